"""Files of every kind, each with the text of a stranger in it: how they are made, and the command that reads them."""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from recorded import ttt
from safetensors.numpy import load_file, save_file

import evallearn
from evallearn.agents import RandomAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.formats import write_games
from evallearn.arena.journal import read_terms
from evallearn.cli import run
from evallearn.core.checksum import CHECKSUM, line_text, read_checked, with_checksum, write_checked
from evallearn.core.digest import json_digest
from evallearn.data import Origin, RecordSettings, generate_records
from evallearn.data.shards import from_table, read_shard, write_shard
from evallearn.evaluators import LinearEval, read_header, save
from evallearn.evaluators.files import KEY
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.play import Session, save_game
from evallearn.runs import Recipe, Run
from evallearn.runs.curve import Point, Recorder
from evallearn.train.selfplay.checkpoints import save_checkpoint

GAME = TicTacToe()
MATCH = ["match", "random", "random", "--game=tic_tac_toe", "--workers=1", "--pairs=2"]


def changed(data: Any, text: str, *, but: tuple[str, ...] = ()) -> Any:
    """The same JSON with `text` in the place of every other text."""
    if isinstance(data, dict):
        return {key: value if key in but else changed(value, text, but=but) for key, value in data.items()}
    if isinstance(data, list):
        return [changed(value, text, but=but) for value in data]
    return text if isinstance(data, str) else data


def rewrite(path: str, text: str, *but: str, belongs_to: str = "") -> None:
    """A JSON file, every text in it replaced; or one object a line. Checksums fit again, as a stranger would see to."""
    lines = Path(path).read_text().splitlines() if path.endswith("l") else [Path(path).read_text()]
    said = [changed(json.loads(line), text, but=(*but, CHECKSUM)) for line in lines]
    Path(path).write_text("".join(sealed(data, belongs_to, journal=path.endswith("l")) for data in said))


def sealed(data: Any, belongs_to: str = "", *, journal: bool = False) -> str:
    """The object in one line, with the checksum that fits, if it had one."""
    if data.pop(CHECKSUM, None) is None:
        return json.dumps(data) + "\n"
    return line_text(data, belongs_to) if journal else json.dumps(with_checksum(data, belongs_to)) + "\n"


def rewrite_header(path: str, text: str) -> None:
    """The same of the JSON in the head of a .safetensors file."""
    with safetensors.safe_open(path, framework="np") as file:
        metadata = file.metadata()
    said = {key: json.dumps(changed(json.loads(value), text)) for key, value in metadata.items()}
    save_file(load_file(path), path, metadata=said)


# --- kinds of files: each makes one, and tells the command that reads it ---------------------------------------------
def saved_game(text: str) -> list[str]:
    save_game(Session(GAME, (None, None)), Path("files/game.json"))
    data = json.loads(Path("files/game.json").read_text())
    Path("files/game.json").write_text(json.dumps({**data, "seats": ["you", text]}))
    return ["play", "tic_tac_toe", "--load", "files/game.json", "--no-verdict"]


def loaded_game(text: str) -> list[str]:
    """At the board, where `load` is typed."""
    saved_game(text)
    return ["play", "tic_tac_toe", "--opponent", "random", "--no-verdict"]


def saved_moves(text: str) -> list[str]:
    save_game(Session(GAME, (None, None)), Path("files/game.json"))
    data = json.loads(Path("files/game.json").read_text())
    Path("files/game.json").write_text(json.dumps({**data, "moves": ["5", text]}))
    return ["play", "tic_tac_toe", "--load", "files/game.json", "--no-verdict"]


def saved_start(text: str) -> list[str]:
    command = saved_moves(text)
    rewrite("files/game.json", text, "format", "game", "moves", "seats")
    return command


def saved_name(text: str) -> list[str]:
    command = saved_moves(text)
    rewrite("files/game.json", text, "format")
    return command


def played() -> list[str]:
    play_match(GAME, *(RandomAgent(GAME, name) for name in "ab"), MatchSettings(pairs=2), folder=Path("files/match"))
    return ["replay", "files/match", "--game=tic_tac_toe"]


def rewrite_sets(text: str, *but: str) -> None:
    """The lines say `text`, and belong to the terms that stand beside them."""
    rewrite("files/match/sets.jsonl", text, *but, belongs_to=json_digest(read_terms(Path("files/match"))))


def match_names(text: str) -> list[str]:
    command = played()
    data = json.loads(Path("files/match/match.json").read_text())
    Path("files/match/match.json").write_text(sealed({**data, "agents": [text, text]}))
    rewrite_sets(text, "end")
    return command


def match_resumed(text: str) -> list[str]:
    played()
    rewrite("files/match/match.json", text)
    rewrite_sets(text)
    return [*MATCH, "--run=files/match"]


def sets_resumed(text: str) -> list[str]:
    """The terms are those of the command, so that the games are read."""
    command = [*MATCH, "--run=files/match"]
    assert run(command) == 0
    rewrite_sets(text)
    return command


def match_result(text: str) -> list[str]:
    sets_resumed(text)
    rewrite("files/match/result.json", text)
    return ["info", "files/match"]


def games(suffix: str) -> Callable[[str], list[str]]:
    def make(text: str) -> list[str]:
        record = ttt(players=(text, text), end="")
        game: Any = GAME
        if suffix in (".pgn", ".pdn"):
            game = evallearn.get_game("chess" if suffix == ".pgn" else "checkers")
            move = "e4" if suffix == ".pgn" else "11-15"
            start = game.to_text(game.initial())
            record = replace(record, opening=start, actions=(move,), utilities=(0.0, 0.0), end="adjudicated: x")
        write_games(f"files/games{suffix}", game, [record])
        return ["replay", f"files/games{suffix}", f"--game={game.name}"]

    return make


def games_of(text: str) -> list[str]:
    command = games(".jsonl")(text)
    rewrite("files/games.jsonl", text, "format")
    return command


def pgn_tags(text: str) -> list[str]:
    tags = "".join(f'[{name} "{text}"]\n' for name in ("Event", "White", "SetUp", "FEN", "Variant", "Opening"))
    Path("files/games.pgn").write_text(f"{tags}\n1. e4 *\n")
    return ["replay", "files/games.pgn", "--game=chess"]


def openings(text: str) -> list[str]:
    Path("files/openings.txt").write_text(f"{text}\n")
    return [*MATCH, "--openings=files/openings.txt", "--run=files/match"]


def records() -> None:
    generate_records(Path("files"), GAME, [RandomAgent(GAME)] * 2, RecordSettings(games=20))


def manifest(text: str) -> list[str]:
    records()
    rewrite("files/manifest.json", text)
    return ["fit", "files", "--game=tic_tac_toe", "--out=x.safetensors", "--method=ridge"]


def shards(*change: str) -> Callable[[str], list[str]]:
    """The origin that stands in a shard says `text`: who played, or also which game."""

    def make(text: str) -> list[str]:
        records()
        origin, table = read_shard(Path("files/records/shard-000000.parquet"))
        more = {name: text if name == "game" else (text,) for name in change}
        write_shard(Path("files"), 0, from_table(table), Origin(**{**vars(origin), **more}))
        Path("files/manifest.json").unlink()
        return ["info", "files"]

    return make


def records_resumed(text: str) -> list[str]:
    shards("agents", "game")(text)
    return ["selfplay", "tic_tac_toe", "--out=files", "--games=20", "--workers=1"]


def run_config(text: str) -> list[str]:
    Path("files/run").mkdir()
    config = Run(GAME, Path("files/run"), Recipe.load("linear", GAME)).terms
    Path("files/run/run.json").write_text(json.dumps(with_checksum(changed(config, text))))
    return ["learn", "tic_tac_toe", "--run=files/run", "--workers=1"]


def run_result(text: str) -> list[str]:
    write_checked(Path("files/result.json"), {"evallearn": text, "files": {"linear": text}, "command": text})
    return ["info", "files"]


def pattern_checkpoint(text: str) -> list[str]:
    values = dict.fromkeys(("game", "patterns"), text)
    Path("files/selfplay-0").mkdir()
    path = Path("files/selfplay-0/checkpoint.safetensors")
    save_checkpoint(path, "self-play", values, values, {"weights": np.zeros(1)})
    return ["learn", "connect_four", "--recipe=patterns", "--games=1", "--set=selfplay.pairs=0", "--run=files"]


def recipe(key: str) -> Callable[[str], list[str]]:
    """A recipe that says `text`."""

    def make(text: str) -> list[str]:
        verb = "selfplay" if key == "opponent" else "generate"
        field = f'[[stage]]\nverb = "{verb}"\n{"" if key == "games" else "games = 1"}\n{key} = {json.dumps(text)}\n'
        Path("files/own.toml").write_text(f'help = "x"\n{field}')
        return ["learn", "tic_tac_toe", "--recipe=files/own.toml", "--run=files/run"]

    return make


def suite(text: str) -> list[str]:
    head = {"format": "evallearn suite", "version": 1, "game": "tic_tac_toe", "by": text, "exact": False}
    Path("files/s.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps({'position': text, 'value': 0.0})}\n")
    return ["quality", "zero", "--game=tic_tac_toe", "--suite=files/s.jsonl"]


def suite_game(text: str) -> list[str]:
    command = suite(text)
    rewrite("files/s.jsonl", text, "format")
    return command


def header(text: str, **fields: Any) -> None:
    """An evaluator file whose header says `text`."""
    path = Path("files/eval.safetensors")
    save(LinearEval.zero(GAME), path)
    data = {**read_header(path), "made": {"name": text, "command": text}, **fields}
    save_file(load_file(path), path, metadata={KEY: json.dumps(data)})


def evaluator(*command: str, **fields: str) -> Callable[[str], list[str]]:
    def make(text: str) -> list[str]:
        header(text, **{name: value.format(text=text) for name, value in fields.items()})
        return [*command]

    return make


def card(text: str) -> list[str]:
    """In a folder that is taken for the zoo."""
    Path("files/tic_tac_toe").mkdir()
    source = Path(evallearn.__file__).parent / "zoo" / "tic_tac_toe"
    shutil.copytree(source, "files/tic_tac_toe", dirs_exist_ok=True)
    rewrite("files/tic_tac_toe/linear.json", text)
    return ["zoo", "tic_tac_toe/linear"]


def table(text: str) -> list[str]:
    data = Path(os.environ["EVALLEARN_DATA"])
    data.mkdir()
    metadata = {"evallearn_table": json.dumps({"format": 1, "game": text, "pieces": 4, "checksum": text})}
    save_file({"values": np.zeros(1, np.uint8)}, data / "checkers-4.table", metadata=metadata)
    return ["explain", "solved:zero", "start", "--game=checkers"]


def learned(text: str) -> list[str]:
    """A run that was finished: what its steps say is told again."""
    command = ["learn", "tic_tac_toe", "--run=files/run", "--games=100", "--workers=1"]
    small = {"gate.generations": 1, "gate.pairs": 2, "ladder.pairs": 2}
    small |= {f"{stage}.depth": 1 for stage in ("generate", "gate", "ladder")}
    command += [f"--set={key}={value}" for key, value in small.items()]
    assert run(command) == 0
    terms = json_digest(read_checked(Path("files/run/run.json"), ""))
    for step in Path("files/run/steps").glob("*.json"):
        rewrite(str(step), text, "of", belongs_to=terms)
    return command


@functools.cache
def taught() -> dict[str, bytes]:
    """The files of a model that plays against itself, before the stage is done."""
    evaluator = LinearEval.zero(GAME)
    with tempfile.TemporaryDirectory() as folder:
        curve = Recorder(GAME, Path(folder), None, 2, 1, 8)
        curve.points.append(Point(games=4, moves=36, seconds=1.0, loss=0.5, games_per_second=8.0))
        curve.write()
        save(evaluator, Path(folder, "last.safetensors"))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def taught_before(name: str) -> Callable[[str], list[str]]:
    """Such a model that goes on; a file of it says `text`."""

    def make(text: str) -> list[str]:
        Path("files/selfplay-0").mkdir()
        for file, data in taught().items():
            Path("files/selfplay-0", file).write_bytes(data)
        Path("files/selfplay-0/checkpoint.safetensors").write_bytes(b"not looked at")
        (rewrite if name.endswith(".json") else rewrite_header)(f"files/selfplay-0/{name}", text)
        Path("files/own.toml").write_text('help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 8\npairs = 2\n')
        return ["learn", "tic_tac_toe", "--recipe=files/own.toml", "--run=files"]

    return make


FILE = "files/eval.safetensors"
KINDS: dict[str, tuple[Callable[[str], list[str]], str]] = {
    "saved game: seats": (saved_game, "files/game.json: seat 2: "),
    "saved game: seats, loaded at the board": (loaded_game, "files/game.json: seat 2: "),
    "saved game: moves": (saved_moves, "files/game.json: move 2 of 2, '{text}'"),
    "saved game: start": (saved_start, "files/game.json: its start cannot be: tic_tac_toe position '{text}'"),
    "saved game: game": (saved_name, "files/game.json is a game of '{text}', not of tic_tac_toe"),
    "match: names": (match_names, "{text} - {text}"),
    "match: terms, resumed": (match_resumed, "files/match holds a match with format='{text}'"),
    "match: games, resumed": (sets_resumed, "sets.jsonl, line 1 is damaged (no game ends by "),
    "match: result": (match_result, '"command": "{text}"'),
    "games as .jsonl": (games(".jsonl"), "{text} - {text}"),
    "games as .json": (games(".json"), "{text} - {text}"),
    "games as .txt": (games(".txt"), "{text} - {text}"),
    "games as .pgn": (games(".pgn"), "{text} - {text}"),
    "games as .pdn": (games(".pdn"), "{text} - {text}"),
    "games: which game": (games_of, "files/games.jsonl has games of {text}"),
    "games: tags of anybody's .pgn": (pgn_tags, "files/games.pgn: PGN game 1: chess position '{text}'"),
    "openings": (openings, "files/openings.txt, line 1: tic_tac_toe position '{text}'"),
    "records: manifest": (manifest, "is missing: rerun the command that made it"),
    "records: agents": (shards("agents"), '"records": '),
    "records: game": (shards("agents", "game"), '"records": '),
    "records: resumed": (records_resumed, "files holds records of other settings (game {text} there"),
    "run: configuration": (run_config, "files/run holds a run with game='{text}'"),
    "run: result": (run_result, '"command": "{text}"'),
    "recipe: who plays": (recipe("player"), "files/own.toml: player={text!r} is not shipped, and a file may name"),
    "recipe: opponent": (recipe("opponent"), "files/own.toml: opponent={text!r} is not shipped, and a file may"),
    "recipe: a number": (recipe("games"), "stage 0 (generate): games={text!r}: give a whole number"),
    "self-play: checkpoint": (pattern_checkpoint, "files/selfplay-0/checkpoint.safetensors"),
    "self-play: curve": (taught_before("curve.json"), "files/selfplay-0/checkpoint.safetensors"),
    "self-play: last model": (taught_before("last.safetensors"), "last.safetensors"),
    "suite": (suite, "files/s.jsonl, line 2: tic_tac_toe position '{text}'"),
    "suite: game": (suite_game, "files/s.jsonl, line 1: a suite of '{text}'"),
    "evaluator: made": (evaluator("explain", FILE, "start"), "worth 0"),
    "evaluator: game": (evaluator("explain", FILE, "start", game="{text}"), f"{FILE} is an evaluator of '{{text}}'"),
    "evaluator: game, as an agent": (
        evaluator("match", FILE, "random", "--game=tic_tac_toe", game="{text}"),
        f"{FILE} is an evaluator of {{text}}, not of tic_tac_toe",
    ),
    "evaluator: game, in info": (evaluator("info", FILE, game="{text}"), '"game": "{text}"'),
    "evaluator: game, quantised": (
        evaluator("quantise", FILE, "--out=q.safetensors", game="{text}"),
        f"{FILE} is an evaluator of '{{text}}'",
    ),
    "evaluator: parameters of a game": (
        evaluator("explain", FILE, "start", game="pacman,maze={text}"),
        "unknown pacman maze '{text}'",
    ),
    "evaluator: kind": (evaluator("info", FILE, kind="{text}"), f"{FILE} holds a '{{text}}' evaluator"),
    "zoo: card": (card, "{text}"),
    "endgame table": (table, "checkers-4.table is no endgame table of checkers"),
}
SLOW = {
    "run: steps": (learned, "report: files/run/report.html"),
}
