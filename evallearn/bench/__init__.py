"""Measurements of the searches, one file each; `evallearn bench` shows them.

speed     nodes per second of alpha-beta on both backends, and of OpenSpiel
threads   what a second thread gains
ladder    what each refinement of alpha-beta saves, one after the other
chance    what Star1 and Star2 save where dice are rolled, and OpenSpiel's speed
mcts      simulations per second, and OpenSpiel's
learn     learning moves per second of pattern tables, beside another version's
"""
