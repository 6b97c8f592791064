"""A cmd engine for tests: it plays the last legal move, and misbehaves as its first argument says.

The first question is the rehearsal; what it is asked later counts from 1.
"""

import json
import os
import signal
import sys
import time


def misbehave(mode: str, asked: int, question: dict[str, object]) -> None:
    """What a bad engine does instead of answering."""
    if mode == "crash" and asked == 3:
        print("Traceback: no such square\n", file=sys.stderr)
        sys.exit(3)
    if mode == "abort" and asked == 1:
        os.kill(os.getpid(), signal.SIGABRT)
    if mode == "hang" and asked == 1:
        time.sleep(60)
    if mode == "mute" and asked == 1:
        os.close(1)
        time.sleep(60)
    if mode == "flood":
        print("thinking about it very hard indeed " * 6000, file=sys.stderr, flush=True)
    if mode == "note":
        print(json.dumps(question), file=sys.stderr, flush=True)


def answer(mode: str, asked: int, legal: list[str]) -> str:
    """What it says of a position."""
    wrong = {
        "illegal": "z9",
        "garbage": "\x00\udcff {[",
        "empty": "",
        "half": '{"value": 0.3}',
        "list": '{"move": ["a"]}',
        "infinite": f'{{"move": "{legal[-1]}", "value": 1e999}}',
        "huge": f'{{"move": "{legal[-1]}", "value": {10**400}}}',
        "deep": '{"move": ' + "[" * 100_000,
    }
    if mode in wrong and asked == 1:
        return wrong[mode]
    if mode == "json":
        return json.dumps({"move": legal[-1], "value": 0.25})
    if mode == "pid":
        return json.dumps({"move": legal[-1], "value": os.getpid()})
    return legal[-1]


def main(mode: str) -> None:
    """The life of an engine."""
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]  # it is a TextIOWrapper
    if mode == "exit":
        sys.exit("no licence")
    if mode == "sleep":
        time.sleep(60)
    if mode == "banner":
        print("Welcome to the engine!\nIt plays the last legal move.\n", flush=True)
    for asked, line in enumerate(sys.stdin):
        question = json.loads(line)
        misbehave(mode, asked, question)
        print("still no move" if mode == "babble" else answer(mode, asked, question["legal"]), flush=True)


main(sys.argv[1])
