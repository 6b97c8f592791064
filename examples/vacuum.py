"""A problem with outcomes that the agent does not choose: the erratic vacuum cleaner of Russell & Norvig, chapter 4.

Two rooms, each dirty or clean. `suck` cleans a dirty room and sometimes the other one too; in a clean room it sometimes
leaves dirt. A slippery floor: a move sometimes fails.

    python examples/vacuum.py
"""

from typing import NamedTuple

from evallearn import and_or_search

LEFT, RIGHT = 0, 1


class State(NamedTuple):
    room: int
    dirt: tuple[bool, bool]

    def __str__(self) -> str:  # the textbook's numbers, 1 to 8: dirt in both, left only, right only, none
        return str(1 + self.room + 2 * [(True, True), (True, False), (False, True), (False, False)].index(self.dirt))


class Vacuum:
    def __init__(self, erratic: bool = True, slippery: bool = False) -> None:
        self.erratic, self.slippery = erratic, slippery

    def initial(self) -> State:
        return State(LEFT, (True, True))

    def actions(self, s: State) -> tuple[str, ...]:
        return ("suck", "left", "right")

    def is_goal(self, s: State) -> bool:
        return not any(s.dirt)

    def results(self, s: State, a: str) -> list[State]:
        if a != "suck":
            moved = s._replace(room=LEFT if a == "left" else RIGHT)
            return [s, moved] if self.slippery and moved != s else [moved]
        clean = s._replace(dirt=(False, s.dirt[1]) if s.room == LEFT else (s.dirt[0], False))
        if not self.erratic:
            return [clean]
        if clean != s:
            both = s._replace(dirt=(False, False))
            return [clean, both] if both != clean else [clean]
        return [s, s._replace(dirt=(True, s.dirt[1]) if s.room == LEFT else (s.dirt[0], True))]


if __name__ == "__main__":
    print("erratic: ", and_or_search(Vacuum()))
    print("slippery:", and_or_search(Vacuum(erratic=False, slippery=True), cyclic=True))
    print("slippery, but it must be sure to end:", and_or_search(Vacuum(erratic=False, slippery=True)))
