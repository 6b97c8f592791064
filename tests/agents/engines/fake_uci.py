"""A UCI engine for tests: it answers what its second argument says, and writes what it hears to stderr."""

import sys

INFO = (
    "info string 100 % sure, score cp 999 pv a1a2",
    "info depth 3 seldepth 5 multipv 1 score cp 40 nodes 111 nps 1 pv d2d4 d7d5",
    "info depth 4 score cp 90 lowerbound nodes 150 pv e2e4",
    "info depth 4 multipv 1 score SCORE nodes 200 pv e2e4 e7e5 g1f3 e1e8 a2a3",
    "info depth 4 multipv 2 score cp -500 nodes 210 pv a2a3",
    "info depth -- score cp --3 upperbound nodes 9999999999999999999999 pv a2a3",
    "info depth 5 currmove e2e4 nodes 222",
    "",
)


def main(score: str, bestmove: str) -> None:
    """The life of an engine."""
    print("Fake 1.0 by nobody")
    for line in sys.stdin:
        command = line.strip()
        print(command, file=sys.stderr, flush=True)
        if command == "uci":
            print("id name Fake\noption name Skill Level type spin default 3\noption name Hash type spin\nuciok")
        elif command == "isready":
            print("readyok")
        elif command == "quit":
            return
        elif command.startswith("go"):
            print("\n".join(INFO).replace("SCORE", score) + f"\n{bestmove}")
        sys.stdout.flush()


main(*sys.argv[1:])
