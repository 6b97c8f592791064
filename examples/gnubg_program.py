"""GNU Backgammon, the program, as an opponent.

It runs inside Debian's gnubg, whose Python reads our questions:

    apt-get install gnubg
    evallearn match EVAL "cmd:/usr/games/gnubg -t -q -r -p examples/gnubg_program.py@depth=1" --game backgammon

@depth=1 is its 0 plies, @depth=3 its 2 plies with its own filters of moves. Money play without the cube.
"""

import importlib
import json
import os
import re
import sys
from collections.abc import Sequence

gnubg = importlib.import_module("gnubg")  # only there is within the program

answers = os.fdopen(os.dup(1), "w")  # what the program itself prints is not for us
os.dup2(2, 1)
for command in ("set jacoby off", "set threads 2", "set display off"):  # with one thread every question takes 10 ms
    gnubg.command(command)
CUBELESS = gnubg.cubeinfo(1, -1, 1, 0, (0, 0), 0, 0)


def written(move: Sequence[int]) -> str:
    """Return (from, to, from, to, ...) counted from 1, as plays are written; 25 is the bar, 0 is off the board."""
    steps = [(a, b) for a, b in zip(move[::2], move[1::2], strict=False) if a > 0]
    return " ".join(f"{'bar' if a == 25 else a}/{'off' if b <= 0 else b}" for a, b in steps)


for line in sys.stdin:
    question = json.loads(line)
    depth = int((re.search(r"depth=(\d+)", question["limits"] or "") or [0, 1])[1])
    name, _, rest = question["position"].partition(":")  # the dice, and perhaps whose turn it is
    dice = rest.split(" ")[0]
    if len(question["legal"]) == 1 or not dice:
        move = question["legal"][0]
    else:
        context = {"cubeful": 0, "plies": depth - 1, "deterministic": 1, "prune": 1, "noise": 0.0}
        board = gnubg.positionfromid(name)
        move = written(gnubg.findbestmove(board, CUBELESS, context, tuple(int(d) for d in dice)))
    print(json.dumps({"move": move}), file=answers, flush=True)
