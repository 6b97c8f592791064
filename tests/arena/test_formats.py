"""Games as files: what is written is read back the same, and damage is refused, with its place."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import WON, record_of, sample, ttt

from evallearn import game_names, get_game
from evallearn.arena import formats
from evallearn.arena.formats import formats_of, read_games, write_games
from evallearn.arena.records import GameRecord, play_over, replay
from evallearn.core.game import Game
from evallearn.errors import DataError
from evallearn.games.checkers.pdn import read_pdn
from evallearn.games.tic_tac_toe import TicTacToe

EVERY_FILE = [(name, suffix) for name in game_names() for suffix in formats_of(get_game(name))]
CHESS, TTT = get_game("chess"), get_game("tic_tac_toe")
SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


@pytest.fixture(params=EVERY_FILE, ids=lambda kind: "".join(kind))
def file(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Game, Path]:
    name, suffix = request.param
    return get_game(name), tmp_path / f"games{suffix}"


def refused(game: Game, path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_games(path, game)
    assert str(caught.value).startswith(str(path)) or f"cannot read {path}" in str(caught.value)
    return str(caught.value).removeprefix(str(path))


# --- what is written is read back ------------------------------------------------------------------------------------
def test_every_record_comes_back_from_every_file(file: tuple[Game, Path]) -> None:
    game, path = file
    records = sample(game.name)
    assert write_games(path, game, iter(records)) == len(records)
    assert read_games(path, game) == list(records)


@pytest.mark.long
def test_same_records_give_same_bytes_and_no_file_is_left_beside(file: tuple[Game, Path]) -> None:
    game, path = file
    write_games(path, game, sample(game.name))
    first = path.read_bytes()
    write_games(path, game, read_games(path, game))
    assert path.read_bytes() == first
    assert list(path.parent.iterdir()) == [path]


def test_a_file_without_games_has_none(file: tuple[Game, Path]) -> None:
    game, path = file
    assert write_games(path, game, []) == 0
    assert read_games(path, game) == []


def test_records_are_written_as_they_come(file: tuple[Game, Path]) -> None:
    """An error after the first game leaves the old file as it was, and nothing else."""
    game, path = file
    path.write_text("old")

    def records() -> Iterator[GameRecord]:
        yield sample(game.name)[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_games(path, game, records())
    assert [p.read_text() for p in path.parent.iterdir()] == ["old"]


@settings(max_examples=15)
@given(seed=st.integers(0, 1 << 30), known=st.booleans(), why=st.text(max_size=40), name=st.sampled_from(game_names()))
def test_any_game_comes_back_from_any_file(
    seed: int, known: bool, why: str, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    game, folder = get_game(name), tmp_path_factory.mktemp("games")
    why = why.encode("utf-8", "replace").decode()
    records = [record_of(game, seed, known=known), record_of(game, seed, known=known, end=f"forfeit: {why}")]
    for suffix in formats_of(game):
        if suffix == ".jsonl" or not formats.transcripts.UNWRITABLE.search(records[1].end):
            write_games(folder / f"x{suffix}", game, records)
            back = read_games(folder / f"x{suffix}", game)
            braces = "})" if suffix == ".pdn" else "}}"  # a comment in PDN cannot hold the first
            assert back == [replace(r, end=r.end.replace(*braces)) for r in records]


def test_texts_that_carry_history_keep_it(tmp_path: Path) -> None:
    """Three occurrences of the position end the game, whether the first two belong to the opening or not."""
    for known, opening in ((True, SHUFFLE), (False, SHUFFLE[:2])):
        s = CHESS.initial()
        for move in opening:
            s = CHESS.result(s, CHESS.action_from_text(s, move))
        rest = (SHUFFLE * 2)[len(opening) :]
        record = GameRecord(1, CHESS.to_text(s), opening if known else None, ("a", "b"), rest, (0.0, 0.0))
        assert " moves g1f3 g8f6" in record.opening
        assert CHESS.is_terminal(replay(CHESS, record))
        for suffix in formats_of(CHESS):
            write_games(tmp_path / f"x{suffix}", CHESS, [record])
            assert read_games(tmp_path / f"x{suffix}", CHESS) == [record]
            assert "FEN" not in (tmp_path / f"x{suffix}").read_text()


# --- other programs read them ----------------------------------------------------------------------------------------
@pytest.mark.long
def test_python_chess_reads_the_same_games_from_pgn(tmp_path: Path) -> None:
    chess_pgn = pytest.importorskip("chess.pgn")
    write_games(tmp_path / "x.pgn", CHESS, sample("chess"))
    text = io.StringIO((tmp_path / "x.pgn").read_text())
    for record in sample("chess"):
        found = chess_pgn.read_game(text)
        assert not found.errors
        moves = [node.san() for node in found.mainline()]
        assert moves[len(moves) - len(record.actions) :] == list(record.actions)
        assert found.headers["Result"] == {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[record.utilities[0]]
        assert found.headers["Round"] == f"{record.set}.{record.number}"
        if record.opening_actions is not None:
            assert moves == list(record.moves)
            assert "FEN" not in found.headers
        kind = {"": None, "f": "rules infraction", "a": "adjudication"}[record.end[:1]]
        assert found.headers.get("Termination") == kind
        comment = found.end().comment if moves else found.comment
        assert " ".join(comment.split()) == record.end  # it may go over several lines
    assert chess_pgn.read_game(text) is None


def test_read_pdn_reads_the_same_games(tmp_path: Path) -> None:
    game = get_game("checkers")
    write_games(tmp_path / "x.pdn", game, sample("checkers"))
    games = read_pdn((tmp_path / "x.pdn").read_text())
    for record, found in zip(sample("checkers"), games, strict=True):
        played = play_over(game, record)
        assert found.actions[len(found.actions) - len(record.actions) :] == played.actions[played.opening_plies :]
        assert (found.tags["Black"], found.tags["White"]) == record.players
        assert found.result == {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[record.utilities[0]]


@pytest.mark.parametrize(
    ("name", "line", "part"),
    [
        ("connect_four", "1212121", "121"),
        ("tic_tac_toe", "1 2 3 4 5 6 7", "12"),
        ("matches", "3:3 3:3 3:1 2:3 2:1 2:1 1:1 1:1 1:1", "3:3"),
    ],
)
def test_a_strangers_transcript_needs_no_comments(name: str, line: str, part: str, tmp_path: Path) -> None:
    game, path = get_game(name), tmp_path / "x.txt"
    path.write_text(f"# from a book\n{line}\n\n{line}\r\n")
    first, second = read_games(path, game)
    assert (first.number, second.number) == (1, 2)
    assert first.players == ("?", "?")
    assert first.utilities == tuple(game.utility(replay(game, first), p) for p in (0, 1))
    assert "the game goes on, and nothing says how it ended" in refused(game, path, part)


def test_othello_transcripts_leave_passes_out(tmp_path: Path) -> None:
    game, path = get_game("othello"), tmp_path / "x.txt"
    record = next(r for seed in range(20) if "pass" in (r := record_of(game, seed)).moves)
    write_games(path, game, [record])
    line = path.read_text().splitlines()[-1]
    assert line == "".join(m for m in record.moves if m != "pass")
    assert game.from_text(line) == replay(game, record)
    path.write_text(line.upper())  # as the next program writes it
    assert read_games(path, game)[0].actions == record.moves


def test_backgammon_transcripts_show_the_dice(tmp_path: Path) -> None:
    game, path = get_game("backgammon"), tmp_path / "x.txt"
    write_games(path, game, [replace(record_of(game, 5, end="forfeit: x"), actions=(), end="forfeit: x")])
    opening = record_of(game, 5, end="forfeit: x").opening_actions
    assert opening
    assert path.read_text().splitlines()[-1].startswith(f"{opening[0]}: {opening[1]} {opening[2]}: ")


def test_strangers_pgn_and_pdn_may_stop_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text(
        '[White "A"]\n[Termination "Time forfeit"]\n\n1. e4 e5 {remark} (1... c5) 1-0\n\n1. f3 e5 2. g4 Qh4# 0-1'
    )
    won, mated = read_games(path, CHESS)
    assert (won.players, won.actions, won.utilities) == (("A", "?"), ("e4", "e5"), (1.0, -1.0))
    assert (won.end, mated.end) == ("adjudicated: Time forfeit", "")
    assert "ply 4: the game is over with -1 1, but the record says 1 -1" in refused(
        CHESS, path, "1. f3 e5 2. g4 Qh4# 1-0"
    )
    assert "game 1 of the file has the result '*'" in refused(CHESS, path, "1. e4 *")
    repeated = " ".join(SHUFFLE * 2)
    assert "game 1 of the file, ply 9" in refused(CHESS, path, f"{repeated} e4 1-0")
    game = get_game("checkers")
    (tmp_path / "x.pdn").write_text('[FEN "W:W18:B1"]\n1. 18-14 1-1')
    (drawn,) = read_games(tmp_path / "x.pdn", game)
    assert (drawn.opening, drawn.opening_actions, drawn.end) == ("W:W18:B1", None, "adjudicated: as the file says")


# --- what is refused -------------------------------------------------------------------------------------------------
HEAD = '{"format": "evallearn games", "version": 1, "game": "tic_tac_toe"}\n'


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".jsonl", "", ", line 1: damaged or no JSON"),
        (".jsonl", "[]", " is no file of games"),
        (".jsonl", HEAD.replace("1", "2"), " has version 2, this program reads version 1"),
        (".jsonl", HEAD.replace("tic", "tac"), " has games of tac_tac_toe, not of tic_tac_toe: read it as tac_tac_toe"),
        (".jsonl", HEAD + "{}\n", ", line 2 has no 'number'"),
        (".jsonl", HEAD + '{"number": 1', ", line 2: damaged or no JSON (Expecting ',' delimiter, character 13)"),
        (".jsonl", HEAD + "[" * 100_000, ", line 2: damaged or no JSON (too deep or long)"),
        (".json", HEAD, " has no list 'games'"),
        (".json", HEAD[:-2] + ', "games": [7]}', ", record 1 is 7"),
        (".txt", "# evallearn transcripts of pig, version 1", " has games of pig, not of tic_tac_toe"),
        (".txt", "# evallearn transcripts of tic_tac_toe, version 3", " has version 3, this program reads version 1"),
        (
            ".txt",
            "# evallearn transcripts of tic_tac_toe",
            ", line 1: '# evallearn transcripts of tic_tac_toe' is damaged",
        ),
        (".txt", "12x", ", line 1, game 1, ply 3, 'x': no legal action"),
    ],
)
def test_a_file_that_is_something_else_is_refused(suffix: str, text: str, message: str, tmp_path: Path) -> None:
    assert message in refused(TTT, tmp_path / f"x{suffix}", text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# game: 1", "# game: one", ", line 10: '# game: one': expected a whole number"),
        ("# player 2: b\n", "", ", line 9 has no comment '# player 2: ...' above it"),
        ("# set: 0", "# game: 2", ", line 4: '# game' is said twice of one game"),
        ("# plies: 7", "# plies: 9", ", line 10, game 1 has 7 plies, but its comments say 9, 0 of them the opening"),
        ("# opening: 0", "# position: ?", ", line 10: its opening cannot be: "),
        ("# result: 1 -1", "# result: won", ", line 10: '# result: won': expected a number for each player"),
        (
            "# result: 1 -1",
            "# result: 1 0",
            ": game 1, after ply 7: the game is over with 1 -1, but the record says 1 0",
        ),
        ("# result: 1 -1", "# result: nan nan", ": game 1: utility nan"),
        ("1234567", "", ", line 3: comments without a game after them"),
        ("1234567", "1234577", ", line 10, game 1, ply 7, '7'"),
    ],
)
def test_a_damaged_transcript_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_games(path, TTT, [ttt()])
    text = path.read_text()
    assert old in text
    assert message in refused(TTT, path, text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"0.1"', '"1"', ": game 1 of the file: the tag Round is '1': expected set.number, as in 3.7"),
        ('PlyCount "4"', 'PlyCount "x"', ": game 1 of the file: the tag PlyCount is 'x': expected a whole number"),
        ("g4 Qh4#", "", ": game 1 of the file has 2 plies, but PlyCount says 4"),
        ("g4", "g5", ": PGN game 1, ply 3: "),
        ("0-1\n", "1-0\n", ": game 1, after ply 4: the game is over with -1 1, but the record says 1 -1"),
        ("\n\n1.", '\n[Termination "adjudication"]\n\n1.', ": game 1 of the file: Termination is 'adjudication', but "),
        ('"0-1"]\n', "0-1]\n", ": PGN line 7: "),
    ],
)
def test_a_damaged_pgn_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    mate = GameRecord(1, CHESS.to_text(CHESS.initial()), (), ("a", "b"), ("f3", "e5", "g4", "Qh4#"), (-1.0, 1.0))
    path = tmp_path / "x.pgn"
    write_games(path, CHESS, [mate])
    assert old in path.read_text()
    assert message in refused(CHESS, path, path.read_text().replace(old, new))


@settings(max_examples=60)
@given(data=st.data(), kind=st.sampled_from([kind for kind in EVERY_FILE if kind[0] not in ("2048", "pacman")]))
def test_damage_is_refused_or_harmless(
    data: st.DataObject, kind: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut, or with a byte changed anywhere: DataError that names the file, or games that were played by the rules."""
    game, path = get_game(kind[0]), tmp_path_factory.mktemp("damaged") / f"x{kind[1]}"
    write_games(path, game, [sample(kind[0])[0], sample(kind[0])[6]])
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = data.draw(st.sampled_from([b"", bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :]]))
    path.write_bytes(whole[:at] + changed)
    message = str(path)
    try:
        for record in read_games(path, game):
            replay(game, record)
    except DataError as error:
        message = str(error)
    assert message.startswith(str(path))


# --- what cannot be written ------------------------------------------------------------------------------------------
class Wordy(TicTacToe):
    """Its moves have blanks."""

    name = "wordy"

    def action_to_text(self, s: Any, a: Any) -> str:
        return f"square {a + 1}"


def test_what_a_format_cannot_hold_is_refused_with_one_that_can(tmp_path: Path) -> None:
    wordy = Wordy()
    record = ttt(actions=tuple(f"square {n}" for n in WON))
    with pytest.raises(DataError, match="game 1: its moves, .* cannot be told apart in a line: write .jsonl instead"):
        write_games(tmp_path / "x.txt", wordy, [record])
    write_games(tmp_path / "x.jsonl", wordy, [record])
    assert read_games(tmp_path / "x.jsonl", wordy) == [record]
    with pytest.raises(DataError, match="game 1: its player 1 is 'a.nb', which no line can hold: write .jsonl instead"):
        write_games(tmp_path / "x.txt", TTT, [ttt(players=("a\nb", "c"))])
    chess = GameRecord(1, CHESS.to_text(CHESS.initial()), (), ("a\nb", "c"), ("e4",), (1.0, -1.0), "forfeit: x")
    with pytest.raises(DataError, match="game 1: player 'a.nb': no tag can hold that name: write .jsonl instead"):
        write_games(tmp_path / "x.pgn", CHESS, [chess])
    with pytest.raises(DataError, match="no result says -1 -1; known: 1-0 0-1 1/2-1/2: write .jsonl instead"):
        write_games(tmp_path / "x.pgn", CHESS, [replace(chess, utilities=(-1.0, -1.0))])
    with pytest.raises(DataError, match="game 1, ply 1, 'e5': .* correct it"):
        write_games(tmp_path / "x.pgn", CHESS, [replace(chess, players=("a", "b"), actions=("e5",))])
    with pytest.raises(DataError, match="game 1 has 1 players"):
        write_games(tmp_path / "x.jsonl", CHESS, [replace(chess, players=("a",))])
    assert [p.name for p in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_suffix_that_the_game_has_not_names_those_it_has(tmp_path: Path) -> None:
    for name, suffix, known in (("chess", ".txt", ".pgn"), ("checkers", ".pgn", ".pdn"), ("pig", "", ".txt")):
        with pytest.raises(DataError, match=f"no games of {name} in files .*: use {known} .jsonl .json"):
            write_games(tmp_path / f"x{suffix}", get_game(name), [])


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="cannot read .*x.jsonl .No such file.*: give the name of a file of games"):
        read_games(tmp_path / "x.jsonl", TTT)
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(DataError, match="cannot read .*x.jsonl"):
        read_games(tmp_path / "x.jsonl", TTT)
    with pytest.raises(DataError, match="cannot write .*x.jsonl .*: choose another name or folder"):
        write_games(tmp_path / "x.jsonl", TTT, [])
    (tmp_path / "y.txt").write_bytes(b"1\n\xff")
    with pytest.raises(DataError, match="y.txt, line 2: the text is not UTF-8"):
        read_games(tmp_path / "y.txt", TTT)
    monkeypatch.setattr(formats, "LARGEST", 2)
    with pytest.raises(DataError, match="cannot read .* .it is no file of at most 2 bytes"):
        read_games(tmp_path / "y.txt", TTT)


def test_unchecked_json_is_believed(tmp_path: Path) -> None:
    wrong = ttt(utilities=(0.0, 0.0))
    write_games(tmp_path / "x.jsonl", TTT, [wrong])
    assert read_games(tmp_path / "x.jsonl", TTT, check=False) == [wrong]
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert lines == [formats.json_header(TTT), formats.json_line(wrong)]
    assert json.loads(lines[1])["utilities"] == [0.0, 0.0]
