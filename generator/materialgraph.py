"""Materials in the order they are solved in, and which of them lead to which."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tablebase.material import Material, materials


def pairs(pieces: int) -> list[Material]:
    """One of each pair of mirrored materials with 2 to `pieces` pieces, each after all that it leads to."""
    found = [m for n in range(2, pieces + 1) for m in materials(n)]
    # A capture leaves fewer pieces, a promotion fewer men and as many pieces on each side as there were: what
    # has been solved of one division of the pieces is not needed for the next.
    found.sort(key=lambda m: (m.pieces, -m.own_kings - m.own_men, m.men, -m.own_kings))
    return [m for m in found if canonical(m) == m]


def canonical(material: Material) -> Material:
    """The one of a material and its mirror that `pairs` names."""
    one = (material.own_kings + material.own_men, material.own_kings)
    other = (material.other_kings + material.other_men, material.other_kings)
    return material if one >= other else material.mirror


def leads_to(pair: Material) -> set[Material]:
    """The pairs that one move leads to from a material or its mirror, other than itself."""
    after = pair.after_a_move() | pair.mirror.after_a_move()
    return {canonical(material) for material in after} - {pair}


def depends_on(wanted: Iterable[Material]) -> set[Material]:
    """All pairs that these lead to in any number of moves, other than themselves."""
    wanted = set(wanted)
    found: set[Material] = set()
    left = list(wanted)
    while left:
        new = leads_to(left.pop()) - found
        found |= new
        left.extend(new)
    return found - wanted


def both(pair: Material) -> list[Material]:
    """A material and its mirror, once where they are the same."""
    return [pair] if pair == pair.mirror else [pair, pair.mirror]


@dataclass(frozen=True)
class Scope:
    """What a run is to solve: all materials of 2 to so many pieces, or the named ones and all they lead to.

    Attributes:
        pieces: the most pieces, of both sides together.
        named: the materials that were named; none of them for all there are.
    """

    pieces: int
    named: tuple[Material, ...] = ()

    @classmethod
    def of(cls, named: Iterable[Material]) -> "Scope":
        """These materials (at least one) and all that they lead to."""
        named = tuple(named)
        return cls(max(material.pieces for material in named), named)

    @cached_property
    def pairs(self) -> list[Material]:
        """One of each pair of mirrored materials to solve, each after all that it leads to."""
        if not self.named:
            return pairs(self.pieces)
        wanted = {canonical(material) for material in self.named}
        wanted |= depends_on(wanted)
        return [pair for pair in pairs(self.pieces) if pair in wanted]

    def __str__(self) -> str:
        if not self.named:
            return f"all materials of 2 to {self.pieces} pieces"
        names = ", ".join(map(str, self.named))
        return f"{names} and all that {'it leads' if len(self.named) == 1 else 'they lead'} to"
