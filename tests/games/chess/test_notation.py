"""Chess in text: FEN, moves, PGN, EPD, and whatever else a parser may be given."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.chess import Chess
from evallearn.games.chess.fen import START_FEN, read_fen, write_fen
from evallearn.games.chess.moves import legal_moves
from evallearn.games.chess.notation import Epd, PgnGame, read_epd, read_pgn, write_epd, write_pgn
from evallearn.games.chess.san import san, uci
from evallearn.games.chess.state import State, advance

GAME = Chess()
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/chess"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")


def read(s: State | str, text: str) -> str:
    """The move as UCI."""
    return uci(GAME.action_from_text(GAME.from_text(s) if isinstance(s, str) else s, text))


# --- FEN -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        START_FEN,
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
        "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2",
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 99 120",
        "8/8/8/8/8/5k2/5p2/5K2 w - - 999 9999",
    ],
)
def test_fen_reads_back(text):
    assert GAME.to_text(GAME.from_text(text)) == text


def test_start_is_written_as_usual():
    assert GAME.to_text(GAME.initial()) == START_FEN
    assert GAME.from_text("startpos") == GAME.from_text(START_FEN) == GAME.initial()


def test_clocks_may_be_missing_and_the_rest_is_made_canonical():
    assert read_fen("4k3/8/8/8/8/8/8/4K2R w K -") == read_fen("  4k3/8/8/8/8/8/8/4K2R  w K - 0 0 ")
    assert read_fen("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1").position.castling == "KQkq"


def test_en_passant_square_is_dropped_where_nobody_can_take():
    assert write_fen(read_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1")).split()[3] == "-"
    assert write_fen(read_fen("4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 1")).split()[3] == "-"  # the king would be in check
    assert write_fen(read_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")).split()[3] == "d6"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has 0 fields; expected board, w or b, castling, en passant"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0", "it has 5 fields"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "the board has 7 ranks; expected 8"),
        ("4k3/8/8/8/8/8/8/4K3/ w - - 0 1", "the board has 9 ranks"),
        ("4k3/8/8/9/8/8/8/4K3 w - - 0 1", "rank 5 has '9'; expected PNBRQK, pnbrqk or digits 1 to 8"),
        ("4k3/8/8/x7/8/8/8/4K3 w - - 0 1", "rank 5 has 'x'"),
        ("4k3/8/²/8/8/8/8/4K3 w - - 0 1", "rank 6 has '²'"),
        ("4k3/8/٣5/8/8/8/8/4K3 w - - 0 1", "rank 6 has '٣'"),
        ("4k3/8/44/8/8/8/8/4K3 w - - 0 1", "rank 6, 44, has two digits in a row; write their sum"),
        ("4k3/8/7/8/8/8/8/4K3 w - - 0 1", "rank 6, 7, has 7 squares; expected 8"),
        ("4k3/8/PP7/8/8/8/8/4K3 w - - 0 1", "rank 6, PP7, has 9 squares"),
        ("4k3//8/8/8/8/8/4K3 w - - 0 1", "rank 7, , has 0 squares"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings; expected one"),
        ("4k2k/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 2 kings"),
        ("4k3/8/8/8/P7/PPPPPPPP/8/4K3 w - - 0 1", "White has 9 pawns and at least 0 promoted pieces"),
        ("4k3/8/8/QQ6/8/8/PPPPPPPP/4K3 w - - 0 1", "at least 1 promoted pieces; expected 8 or fewer together"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands on the first or the last rank; move or promote it"),
        ("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", "a pawn stands on the first or the last rank"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "'x' is to move; expected w or b"),
        ("4k3/8/8/8/8/8/8/4K3 W - - 0 1", "'W' is to move"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "White is to move and could take the king; check who is to move"),
        ("8/8/8/3kK3/8/8/8/8 b - - 0 1", "Black is to move and could take the king"),
        ("4k3/8/8/8/8/8/8/4K3 w x - 0 1", "castling is 'x'; expected some of KQkq, or -"),
        ("4k2r/8/8/8/8/8/8/4K3 w kk - 0 1", "castling is 'kk'"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling right K needs a king on e1 and a rook on h1; leave it out"),
        ("r2k4/8/8/8/8/8/8/4K3 w q - 0 1", "castling right q needs a king on e8 and a rook on a8"),
        ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "the en passant square is 'e9'; expected one such as e3, or -"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn can just have passed the en passant square e6; write - instead"),
        ("4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", "no pawn can just have passed the en passant square e3"),
        ("4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1", "no pawn can just have passed the en passant square d6"),
        ("4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 1", "no pawn can just have passed the en passant square d6"),
        ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "the clock is '-1'; expected 0 to 999"),
        ("4k3/8/8/8/8/8/8/4K3 w - - ٣ 1", "the clock is '٣'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 1000 1", "the clock is '1000'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999999999999", "expected 0 to 9999"),
        ("startpos moves e5", "move 1: illegal action 'e5' in chess position"),
        ("startpos moves e4 castle", "move 2: 'castle' is no move in chess position"),
        ("startpos moves f3 e5 g4 Qh4 a3", "move 5: illegal action 'a3'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves Kd1", "the game is over, insufficient material"),
    ],
)  # fmt: skip
def test_bad_positions_say_what_is_wrong(text, message):
    with pytest.raises(BadNotation) as error:
        GAME.from_text(text)
    assert message in str(error.value)
    assert str(error.value).startswith("chess position ")


# --- moves -----------------------------------------------------------------------------------------------------------
KNIGHTS = "4k3/8/8/3p4/1N3N2/8/8/4K3 w - - 0 1"
ROOKS = "4k3/8/8/R7/8/8/8/R3K3 w Q - 0 1"
QUEENS = "8/8/6k1/8/Q2Q4/8/8/Q6K w - - 0 1"
BOTH_TAKE = "4k3/8/8/8/3B4/2p5/1P6/4K3 w - - 0 1"
"""The pawn b2 and the bishop d4 can both take on c3."""
PROMOTES = "3r4/4P1k1/8/8/8/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("position", "texts", "move"),
    [
        ("startpos", ["Nf3", "nf3", "NF3", "Ng1f3", "Ng1-f3", "g1f3", "G1F3", "g1-f3", "Nf3!?", " Nf3+ "], "g1f3"),
        ("startpos", ["e4", "E4", "e2e4", "e2-e4", "Pe4", "pe4", "e4!"], "e2e4"),
        (KNIGHTS, ["Nbxd5", "Nbd5", "nbd5", "Nb4xd5", "b4d5", "Nb:d5"], "b4d5"),
        (ROOKS, ["R1a3", "R1-a3", "Ra1a3", "r1a3"], "a1a3"),
        (ROOKS, ["O-O-O", "0-0-0", "o-o-o", "OOO", "e1c1", "O-O-O+", "Kc1"], "e1c1"),
        ("4k2r/8/8/8/8/8/8/4K3 b k - 0 1", ["O-O", "0-0", "oo", "e8g8"], "e8g8"),
        (QUEENS, ["Qa4d1", "Qa4-d1"], "a4d1"),
        (BOTH_TAKE, ["bxc3", "b2c3", "b2xc3", "b:c3"], "b2c3"),
        (BOTH_TAKE, ["Bxc3", "Bc3", "d4c3", "Bd4c3"], "d4c3"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", ["exd6", "ed6", "exd6 e.p.", "exd6e.p.", "exd6ep", "e5d6"], "e5d6"),
        (PROMOTES, ["e8=Q", "e8Q", "e8q", "e8(Q)", "e7e8q", "e7e8Q", "e8=q", "e7-e8=Q", "E8=Q"], "e7e8q"),
        (PROMOTES, ["exd8=N", "ed8N", "exd8n", "e7d8n", "e7xd8=N"], "e7d8n"),
    ],
)  # fmt: skip
def test_moves_are_read_forgivingly(position, texts, move):
    for text in texts:
        assert read(position, text) == move, text


@pytest.mark.parametrize(
    ("position", "text", "message"),
    [
        (KNIGHTS, "Nd5", "'Nd5' could be several moves in chess position"),
        (KNIGHTS, "Nxd5", "write one of Nbxd5 Nfxd5"),
        (BOTH_TAKE, "bc3", "write one of bxc3 Bxc3"),
        (BOTH_TAKE, "BXC3", "write one of bxc3 Bxc3"),
        (PROMOTES, "e8", "write one of e8=Q e8=R e8=N e8=B"),
        (PROMOTES, "e7e8", "write one of e8=Q"),
        (QUEENS, "Qd1", "write one of Q1d1 Qa4d1 Qdd1"),
        ("startpos", "", "'' is no move in chess position"),
        ("startpos", "e2e9", "expected SAN such as Nf3, exd5, O-O, e8=Q, or UCI such as g1f3; legal: a3"),
        ("startpos", "--", "'--' is no move"),
        ("startpos", "²", "'²' is no move"),
        ("startpos", "\ud800\x00", "is no move"),
    ],
)
def test_unclear_moves_are_refused(position, text, message):
    with pytest.raises(BadNotation) as error:
        read(position, text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("position", "text"),
    [
        ("startpos", "e5"), ("startpos", "Nd2"), ("startpos", "e2e5"), ("startpos", "O-O"), ("startpos", "Nxf3"),
        ("startpos", "exd3"), ("k7/8/8/8/8/8/K7/4Q3 w - - 0 1", "O-O"), (PROMOTES, "e8=K"),
    ],
)  # fmt: skip
def test_moves_that_are_not_legal_are_refused(position, text):
    with pytest.raises((IllegalAction, BadNotation)) as error:
        read(position, text)
    assert repr(text) in str(error.value)
    assert "; legal: " in str(error.value)


@pytest.mark.parametrize(
    ("position", "move", "expected"),
    [
        (KNIGHTS, "b4d5", "Nbxd5"),
        (ROOKS, "a1a3", "R1a3"),
        (QUEENS, "a4d1", "Qa4d1"),
        (QUEENS, "d4d1", "Qdd1"),
        (PROMOTES, "e7d8n", "exd8=N"),
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", "Ra8#"),
        ("6k1/5pp1/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", "Ra8+"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O"),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O+"),
        ("4k3/8/8/8/1b6/8/3N4/4KN2 w - - 0 1", "f1e3", "Ne3"),  # the other knight is pinned
    ],
)
def test_san_is_standard(position, move, expected):
    s = GAME.from_text(position)
    assert GAME.action_to_text(s, GAME.action_from_text(s, move)) == expected


# --- PGN -------------------------------------------------------------------------------------------------------------
ANNOTATED = """% made by hand
[Event "A \\"match\\" \\\\ 1"]
[White "Nobody"]
[Result "1-0"]

{Before} 1. e4 $1 e5! (1... c5 2. Nf3 {the (open) Sicilian; } (2. c3) d6) 2. Qh5?! Nc6 {a comment
over two lines} 3.Bc4 ; to the end of the line }
3... Nf6?? {one} $18 {two} 4. Qxf7# 1-0

[Event "second"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30"]
[SetUp "1"]

30... Kd7 31. e4 *
"""


def test_annotated_games_are_read():
    first, second = read_pgn(ANNOTATED)
    assert [san(s.position, a) for s, a in zip(first.states(), first.moves, strict=False)] == [
        "e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#",
    ]  # fmt: skip
    assert first.result == "1-0"
    assert first.tags["Event"] == 'A "match" \\ 1'
    assert first.tags["Black"] == "?"
    assert first.nags == {1: (1,), 2: (1,), 3: (6,), 6: (4, 18)}
    assert first.comments == {
        0: "Before",
        4: "a comment over two lines",
        5: "to the end of the line }",
        6: "one two",
    }
    assert write_fen(second.start) == "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30"
    assert write_fen(list(second.states())[-1]) == "8/3k4/8/8/4P3/8/8/4K3 b - - 0 31"


def test_games_are_written_and_read_back():
    games = read_pgn(ANNOTATED)
    text = write_pgn(games)
    assert read_pgn(text) == games
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith('[Event "A \\"match\\" \\\\ 1"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n')
    assert "1. e4 $1 e5 $1 2. Qh5 $6 Nc6 {a comment over two lines} 3. Bc4" in text
    assert "3... Nf6 $4 $18 {one two} 4. Qxf7# 1-0" in text


@pytest.mark.parametrize("seed", range(4))
def test_random_games_are_written_and_read_back(seed):
    rng, s, moves = random.Random(seed), GAME.initial(), []
    for _ in range(rng.randrange(200)):
        if not legal_moves(s.position):
            break
        moves.append(rng.choice(legal_moves(s.position)))
        s = advance(s, moves[-1])
    plies = range(0, len(moves) + 1, 1 + seed)
    remarks = {ply: " ".join(rng.choices(["good", "}", "bad;", "(", "%", "1-0", "é"], k=9)) for ply in plies}
    game = PgnGame(
        tuple(moves), GAME.initial(), "1/2-1/2", {"Event": "x"}, remarks, {ply: (ply % 256, 3) for ply in plies}
    )
    assert read_pgn(write_pgn([game, game])) == [game, game]


def test_games_go_on_after_an_unclaimed_draw():
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 3
    (game,) = read_pgn(shuffle + "e4 1/2-1/2")
    assert len(game.moves) == 13


def test_texts_without_result_and_without_games():
    assert read_pgn("") == read_pgn(" \n\n% nothing\n") == []
    assert [g.result for g in read_pgn('[Result "0-1"]\n\n1. e4 e5\n\n[Event "b"]\n\n1. d4 d5 *')] == ["0-1", "*"]
    assert [len(g.moves) for g in read_pgn("1. e4 * 1. d4 d5 0-1")] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. e4 e5 2. Ke3", "PGN game 1, ply 3: illegal action 'Ke3' in chess position"),
        ("1. e4 * 1. e5", "PGN game 2, ply 1: illegal action 'e5'"),
        ("1. e4 hello", "PGN game 1, ply 2: 'hello' is no move"),
        ("1. e4 (1. d4", "PGN game 1: a variation is not closed; add ')'"),
        ("1. e4 ) e5", "PGN game 1, ply 1: ')' closes no variation; remove it"),
        ('[FEN "8/8"]\n\n*', "PGN game 1: chess position '8/8': it has 1 fields"),
        ("1. e4\n{never closed", "PGN line 2: '{never closed' is not understood; expected a tag pair, a move"),
        ('[Event "x]\n', "PGN line 1: '[Event"),
        ("1. e4 $9999", "PGN game 1, ply 1: the glyph is '9999'; expected 0 to 255"),
        ("\ud800", "is not understood"),
    ],
)
def test_bad_games_say_where(text, message):
    with pytest.raises(BadNotation) as error:
        read_pgn(text)
    assert message in str(error.value)


def test_games_that_cannot_be_written_are_refused():
    with pytest.raises(BadNotation, match="the result is '2-0'; expected one of 1-0 0-1 1/2-1/2"):
        PgnGame((), result="2-0")
    with pytest.raises(BadNotation, match="PGN tag 'a b': its name must be of letters, digits and _"):
        write_pgn([PgnGame((), tags={"a b": ""})])


# --- EPD -------------------------------------------------------------------------------------------------------------
def test_operations_are_read():
    text = '4k3/8/8/8/8/8/8/4K2R w K - bm O-O Rh8+; id "mate; or not"; acd 12; noop; hmvc 7; fmvn 40;\n\n'
    (record,) = read_epd(text)
    assert record.operations == {"bm": ("O-O", "Rh8+"), "id": ("mate; or not",), "acd": ("12",), "noop": ()}
    assert [uci(a) for a in record.moves("bm")] == ["e1g1", "h1h8"]
    assert record.moves("am") == ()
    assert (record.state.clock, record.state.number) == (7, 40)
    assert read_epd(write_epd([record])) == [record]


def test_lines_with_clocks_and_leading_semicolons_are_read():
    (record,) = read_epd("4k3/8/8/8/8/8/8/4K2R w K - 3 9 ;D1 15 ;D2 66")
    assert (record.state.clock, record.state.number) == (3, 9)
    assert record.operations == {"D1": ("15",), "D2": ("66",)}
    assert read_epd("4k3/8/8/8/8/8/8/4K2R w K -;")[0].operations == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4k3/8/8 w", "EPD line 1, '4k3/8/8 w': expected board, w or b, castling and en passant"),
        ("\n8/8 w - - bm e4;", "EPD line 2: chess position '8/8 w - -': the board has 2 ranks"),
        ("4k3/8/8/8/8/8/8/4K2R w K - bm O-O; bm Rg1;", "the operation bm stands there twice; join or rename them"),
        (
            '4k3/8/8/8/8/8/8/4K2R w K - id "open',
            "the operation 'id \"open' is not understood; expected such as bm Nf3;",
        ),
        ("4k3/8/8/8/8/8/8/4K2R w K - 12;", "the operation '12' is not understood"),
        ("4k3/8/8/8/8/8/8/4K2R w K - hmvc x;", "the hmvc is 'x'; expected 0 to 999"),
        ("4k3/8/8/8/8/8/8/4K2R w K - fmvn;", "the fmvn is ''; expected 0 to 9999"),
    ],
)
def test_bad_lines_say_where(text, message):
    with pytest.raises(BadNotation) as error:
        read_epd(text)
    assert message in str(error.value)


@pytest.mark.parametrize("operand", ['with "quotes"', "two\nlines", "\ud800"])
def test_operands_that_cannot_be_written_are_refused(operand):
    with pytest.raises(BadNotation, match="EPD operation id: .* cannot be written"):
        write_epd([Epd(GAME.initial(), {"id": (operand,)})])


@needs_reference
def test_suites_are_read_and_written_unchanged():
    lines = [line.rstrip() for path in sorted(REFERENCE.glob("*.epd")) for line in path.read_text().splitlines()]
    lines = [line for line in lines if line]
    assert len(lines) > 1800
    for line in islice(lines, 0, None, 10):
        (record,) = read_epd(line)
        assert " ".join(write_epd([record]).split()) == " ".join(line.split())
        assert record.moves("bm") or record.moves("am")


@needs_reference
@pytest.mark.long
def test_whole_suites_are_read_and_written_unchanged():
    for path in sorted(REFERENCE.glob("*.epd")):
        text = path.read_text()
        records = read_epd(text)
        assert write_epd(records).split() == text.split()
        assert all(record.moves("bm") or record.moves("am") for record in records)


@needs_reference
def test_openings_are_read():
    for line in (REFERENCE / "chess_openings_30.fen").read_text().splitlines():
        s = GAME.from_text(line)
        assert not GAME.is_terminal(s)
        assert GAME.to_text(s).split()[:3] == line.split()[:3]


# --- anything --------------------------------------------------------------------------------------------------------
def damaged(text: str) -> st.SearchStrategy[str]:
    """The text with a piece of it replaced."""
    places = st.tuples(st.integers(0, len(text)), st.integers(0, 3), st.text(max_size=3))
    return places.map(lambda p: text[: p[0]] + p[2] + text[p[0] + p[1] :])


TEXTS = (
    START_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 3 20 moves e1g1 e8c8",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
)


@settings(max_examples=200)
@given(st.one_of(st.text(), *map(damaged, TEXTS)))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


@settings(max_examples=200)
@given(
    st.sampled_from([GAME.from_text(text) for text in (*TEXTS, KNIGHTS, BOTH_TAKE, PROMOTES)]),
    st.one_of(
        st.text(), st.text("abcdefgh12345678KQRBNPkqrnpxO0-=+#()", max_size=7), damaged("Ng1xf3+"), damaged("e7e8q")
    ),
)
def test_any_text_is_a_move_or_refused(s, text):
    try:
        a = GAME.action_from_text(s, text)
    except (BadNotation, IllegalAction):
        return
    assert a in legal_moves(s.position)


@settings(max_examples=200)
@given(st.one_of(st.text(), damaged(ANNOTATED), st.text('[]"{}();%$!?.*1/2-0 \n\\abcdefNf3')))
def test_any_text_is_games_or_bad_notation(text):
    try:
        games = read_pgn(text)
    except BadNotation:
        return
    assert read_pgn(write_pgn(games)) == games


EPD_LINE = '4k3/8/8/8/8/8/8/4K2R w K - bm O-O Rh8+; id "mate"; acd 12; hmvc 7;'


@settings(max_examples=200)
@given(st.one_of(st.text(), damaged(EPD_LINE), st.text('bm"; \n\t\x0b12', max_size=20).map(EPD_LINE[:27].__add__)))
def test_any_text_is_records_or_bad_notation(text):
    try:
        records = read_epd(text)
    except BadNotation:
        return
    try:
        written = write_epd(records)
    except BadNotation:  # operands with unprintable characters are read but not written
        return
    assert read_epd(written) == records
