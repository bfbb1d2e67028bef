"""Materials in the order of solving, and their successors by captures and promotions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tablebase.board.material import Material, materials
from tablebase.errors import MissingTableError
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest


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


def successor_pairs(pair: Material) -> set[Material]:
    """The pairs that one move leads to from a material or its mirror, other than itself."""
    after = pair.successors() | pair.mirror.successors()
    return {canonical(material) for material in after} - {pair}


def depends_on(wanted: Iterable[Material]) -> set[Material]:
    """All pairs that these lead to in any number of moves, other than themselves."""
    wanted = set(wanted)
    found: set[Material] = set()
    left = list(wanted)
    while left:
        new = successor_pairs(left.pop()) - found
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


def after_captures(material: Material) -> Iterator[Material]:
    """The materials that a capture can leave behind, as the next side to move sees them.

    A man that captures may become a king. A capture of everything ends the game and leaves no material.
    """
    for promoted in range(min(material.own_men, 1) + 1):
        for kings in range(material.other_kings + 1):
            for men in range(material.other_men + 1):
                if 0 < kings + men < material.other_kings + material.other_men:
                    yield Material(kings, men, material.own_kings + promoted, material.own_men - promoted)


def after_promotion(material: Material) -> Iterator[Material]:
    """The material that a promotion without a capture leaves behind, as the next side to move sees it; none
    where the side to move has no men."""
    if material.own_men:
        yield Material(material.other_kings, material.other_men, material.own_kings + 1, material.own_men - 1)


def capture_closure(wanted: Iterable[Material]) -> set[Material]:
    """These materials, their mirrors, and all that captures lead to from there."""
    found: set[Material] = set()
    waiting = list(wanted)
    while waiting:
        material = waiting.pop()
        for each in (material, material.mirror):
            if each not in found:
                found.add(each)
                waiting += after_captures(each)
    return found


def require_tables(manifest: Manifest, slices: Iterable[Material], metric: Metric, what: str) -> None:
    """Make sure that tables are there.

    Args:
        manifest: what is there.
        slices: those it takes.
        metric: the table of each.
        what: what takes them, for the message.

    Raises:
        MissingTableError: one is not there; the message names it and the command that makes it.
    """
    slices = sorted(slices, key=Material.sort_key)
    for material in slices:
        record = manifest.slices.get(material)
        if record is None or metric not in record.files:
            raise MissingTableError(
                f"{what} takes the table {table_name(material, metric)}, which is not there; "
                f"make it with `shashki generate --pieces {slices[-1].pieces}`"
            )
