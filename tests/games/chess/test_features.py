"""Chess: what an evaluator sees."""

from __future__ import annotations

import pytest

from evallearn.games.chess import Chess
from evallearn.games.chess import features_finer as finer
from evallearn.games.chess.features import KING_SHELTER, KNIGHT_SQUARES, NAMES, phase

GAME = Chess()


def features(text: str, player: int = 0, mover: str = "w") -> dict[str, float]:
    """The features that are not 0."""
    values = GAME.features(GAME.from_text(f"{text} {mover} - - 0 1"), player)
    return {name: v for name, v in zip(NAMES, values, strict=True) if v}


def places(text: str) -> dict[str, float]:
    """Those of them that count pieces by square."""
    return {name: v for name, v in features(text).items() if name in finer.PLACE_NAMES}


def mirrored(text: str) -> str:
    """The colours swapped."""
    return "/".join(reversed(text.swapcase().split("/")))


def test_the_start_is_even():
    assert features("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR") == {}


@pytest.mark.parametrize(
    "text",
    [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8",
    ],
)
def test_swapped_colours_change_the_sign(text):
    assert features(mirrored(text), mover="b") == {name: -v for name, v in features(text).items()}
    assert features(text, player=1) == {name: -v for name, v in features(text).items()}


def test_all_features_of_a_lone_knight():
    # Nf3: of its eight squares g1 holds the king; d4 and e5 are central. The kings on g1 and e8, 4 and 0 on the table,
    # stand on the edge with no pawn about.
    expected = {"knights": 1, "knight_squares": 2, "king_shelter": 4, "knight_mobility": 7, "centre_control": 2}
    where = {"knight_c3": 1, "king_b1": 1, "king_d1": -1}
    alone = {"lone_king": 2 * 3 + 7 - 7}
    assert features("4k3/8/8/8/8/5N2/8/6K1") == {**expected, **where, **alone}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a2 and a3, doubled, against b5, alone as well; a3 stops b5, and b5 the others
        (
            "4k3/8/8/1p6/8/P7/P7/4K3",
            {
                "pawns": 1, "pawn_squares": 1, "pawn_advance": 1 - 2, "doubled_pawns": 1, "isolated_pawns": 2 - 1,
                "passed_pawns": 0, "passed_advance": 0,
            },
        ),
        # c6, d5 and h2, all passed; d5 defends c6; h2 is alone
        (
            "4k3/8/2P5/3P4/8/8/7P/4K3",
            {
                "pawns": 3, "pawn_squares": 2 + 3 + 1, "pawn_advance": 4 + 3, "isolated_pawns": 1, "defended_pawns": 1,
                "passed_pawns": 3, "passed_advance": 16 + 9,
            },
        ),
        # Rd7 reaches a7 to c7, e7 to h7, d1 to d6 and d8; f7, g7 and h7 are around the king
        (
            "6k1/3R4/8/8/8/8/8/6K1",
            {
                "rooks": 1, "rook_squares": 2, "rook_mobility": 14, "king_attack": 3, "king_attackers": 1,
                "centre_control": 2, "open_rooks": 1, "half_open_rooks": 0, "seventh_rooks": 1,
            },
        ),
        ("4k3/8/8/8/8/8/8/2B1KB2", {"bishops": 2, "bishop_pair": 1, "bishop_squares": -4, "bishop_mobility": 14}),
        # c5 attacks b4 and d4 and e1 holds the king, so the knight on c2 has a1, a3 and e3 left
        ("4k3/8/8/2p5/8/8/2N5/4K2B", {"knight_mobility": 3, "bishop_pair": 0}),
        # on d4 the queen sees 27 squares: a1 and b2 around the king, and the centre thrice
        (
            "8/8/8/8/3Q4/8/k7/7K",
            {"queens": 1, "queen_squares": 1, "queen_mobility": 27, "king_attack": 2, "centre_control": 3},
        ),
        ("8/8/4k3/8/8/8/8/K7", {"king_centre": -2, "king_shelter": KING_SHELTER[0] - KING_SHELTER[20]}),
    ],
)  # fmt: skip
def test_features_of_known_positions(text, expected):
    found = features(text)
    assert {name: found.get(name, 0) for name in expected} == expected


def test_half_open_rooks_and_pawn_threats():
    found = features("4k3/3p4/8/4n3/3P4/8/8/3RK3")
    assert (found["pawn_threats"], "open_rooks" in found, "half_open_rooks" in found) == (1, False, False)
    assert features("4k3/3p4/8/8/8/8/8/3RK3")["half_open_rooks"] == 1


def test_outposts_cannot_be_driven_away():
    assert features("4k3/p7/8/3N4/4P3/8/8/4K3")["outposts"] == 1
    assert "outposts" not in features("4k3/2p5/8/3N4/4P3/8/8/4K3")  # c6 would drive it away
    assert "outposts" not in features("4k3/p7/8/3N4/8/8/8/4K3")  # nothing defends it
    assert features("4k3/8/2p5/3N4/4P3/8/8/4K3").get("outposts", 0) == 0
    assert features("4k3/8/8/2pN4/4P3/8/8/4K3")["outposts"] == 1  # c5 has passed


def test_loose_targets_are_attacked_and_not_defended():
    assert features("4k3/8/8/3n4/8/8/8/3RK3")["loose_targets"] == 1
    assert "loose_targets" not in features("4k3/8/4p3/3n4/8/8/8/3RK3")
    assert "loose_targets" not in features("4k3/8/8/3p4/8/8/8/3RK3")  # pawns do not count


def test_king_safety_of_a_castled_king():
    found = features("4k3/8/8/8/8/8/5PPP/6K1")
    assert (found["pawn_shield"], found["king_open_files"]) == (3, -3)
    assert found["king_shelter"] == KING_SHELTER[6] - KING_SHELTER[4]
    assert features("4k3/8/8/8/8/5PP1/8/6K1")["pawn_shield"] == 2
    assert features("4k3/8/8/8/5PPP/8/8/6K1").get("pawn_shield", 0) == 0


def test_tables_are_read_as_white_sees_them():
    assert KNIGHT_SQUARES[0] == -5  # a1
    assert KNIGHT_SQUARES[36] == 3  # e5
    assert KING_SHELTER[6] == 4  # g1
    assert KING_SHELTER[62] == -6  # g8


@pytest.mark.parametrize(
    ("squares", "expected"),
    [
        ("qqrnbqkbnrRNBQKBNR", 0),  # 32, after promotions
        ("rnbqkbnrRNBQKBNR", 0),  # 24
        ("rnbqkbRBQKBN", 1),  # 17
        ("rbqkbRBQKB", 2),  # 16
        ("kqrKQ", 3),  # 10
        ("kqnKQ", 3),  # 9
        ("kqKQ", 4),  # 8
        ("kqKN", 4),  # 5
        ("kqK", 5),  # 4
        ("kKPp", 5),
    ],
)
def test_phases_go_by_the_pieces_left(squares, expected):
    assert phase(squares) == expected


def test_places_are_counted_by_square_left_and_right_alike():
    assert places("4k3/8/8/8/8/8/3P4/4K3") == {"pawn_d2": 1}  # the kings stand alike
    assert places("3k4/7p/8/P7/8/8/8/4K3") == {"pawn_a5": 1, "pawn_a2": -1}
    assert places("4k3/8/1q6/8/8/8/8/4K3") == {"queen_b3": -1}
    assert places("4k3/8/8/8/8/8/5K2/8") == {"king_c2": 1, "king_d1": -1}


def test_threats_of_both_sides_count_for_whose_turn_it_is():
    # d4 attacks the knight; it attacks the rook on f3 and is defended by nothing; the king defends f3
    text = "4k3/8/8/4n3/3P4/5R2/6K1/8"
    names = ("pawn_threats", "minor_threats", *finer.TURN_NAMES)
    for mover, sign in (("w", 1), ("b", -1)):
        found = features(text, mover=mover)
        assert [found.get(name, 0) for name in names] == [1, -1, sign * 1, sign * 1, sign * 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # d3 has no pawn beside or behind it, and c5, which b7 keeps company, guards d4; c2 beside it would be company
        ("4k3/1p6/8/2p5/8/3P4/8/4K3", {"backward_pawns": 1}),
        ("4k3/1p6/8/2p5/8/3P4/2P5/4K3", {"backward_pawns": 0}),
        # b5, passed, is defended by a4; b6 is free, and the rook stands behind
        ("4k3/8/8/1P6/P7/8/8/1R2K3", {"passed_defended": 1, "passed_free": 2, "rooks_behind": 1}),
        # the square ahead is b6: the white king is one step from it, the black one two; b5 has made three steps
        ("8/8/3k4/1P6/K7/8/8/8", {"passed_race": 3 * (2 - 2), "runners": 0}),
        ("7k/8/8/1P6/1K6/8/8/8", {"passed_race": 3 * (6 - 2), "runners": 1}),
        ("n6k/8/8/1P6/1K6/8/8/8", {"runners": 0}),  # a knight may catch it
        # three pawns on light squares hamper the light bishop only
        ("4k3/8/8/8/8/1P6/4P1P1/2B1KB2", {"bad_bishops": 3 + 0}),
        ("6k1/8/8/6P1/5P2/8/8/4K3", {"pawn_storm": 1}),
        ("4k3/8/2r5/8/3N4/8/8/4K3", {"minor_threats": 1, "rook_threats": 0}),
        ("4k3/8/3q4/8/3R4/8/8/4K3", {"minor_threats": 0, "rook_threats": 1 - 0}),
        ("4k3/8/3p4/8/3R4/8/8/4K3", {"loose_pawns": 1}),
        ("4k3/2p5/3p4/8/3R4/8/8/4K3", {"loose_pawns": 0}),
        # the rook on a7 sees f7, g7 and h7 beside the king, who alone guards them; on a8 it would give check
        ("6k1/R7/8/8/8/8/8/6K1", {"king_danger": 9, "king_weak": 3, "safe_checks": 1, "lone_king": 6 + 0}),
        ("4k3/8/8/8/8/8/8/4K3", {"lone_king": 0}),
        ("4k3/8/4K3/8/8/8/8/R7", {"lone_king": 6 + 5}),
    ],
)
def test_finer_features_of_known_positions(text, expected):
    found = features(text)
    assert {name: found.get(name, 0) for name in expected} == expected


@pytest.mark.parametrize("name", ["material", "positional"])
def test_heuristics_like_what_is_good(name):
    heuristic = GAME.heuristics[name].weights
    rows = [heuristic] if hasattr(heuristic, "keys") else heuristic
    for row in rows:
        assert 0.3 < row["knights"] <= row["bishops"] < row["rooks"] < row["queens"] < 1.5
