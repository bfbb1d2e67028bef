"""Materials in the order of solving, and the materials that their moves lead to."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tablebase.board.material import Material, materials
from tablebase.errors import MissingTableError
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest


def pairs(pieces: int) -> list[Material]:
    """Return every pair with 2 to `pieces` pieces, each after all pairs that its moves lead to.

    A pair, a material and its mirror, is named by its `canonical` material.
    """
    found = [m for n in range(2, pieces + 1) for m in materials(n)]
    # A capture leaves fewer pieces. A promotion leaves fewer men, and as many pieces on each side. So pairs
    # with one division of the pieces between the sides do not need those with another.
    found.sort(key=lambda m: (m.pieces, -m.own_kings - m.own_men, m.men, -m.own_kings))
    return [m for m in found if canonical(m) == m]


def canonical(material: Material) -> Material:
    """Return the material that names a pair: the material itself or its mirror, that with more pieces."""
    one = (material.own_kings + material.own_men, material.own_kings)
    other = (material.other_kings + material.other_men, material.other_kings)
    return material if one >= other else material.mirror


def successor_pairs(pair: Material) -> set[Material]:
    """Return the other pairs that one move leads to from a material or its mirror."""
    after = pair.successors() | pair.mirror.successors()
    return {canonical(material) for material in after} - {pair}


def depends_on(wanted: Iterable[Material]) -> set[Material]:
    """Return the pairs that moves lead to from some pairs, in any number of moves, without those pairs."""
    wanted = set(wanted)
    found: set[Material] = set()
    left = list(wanted)
    while left:
        new = successor_pairs(left.pop()) - found
        found |= new
        left.extend(new)
    return found - wanted


def with_mirror(pair: Material) -> list[Material]:
    """Return a material and its mirror; one material if they are the same."""
    return [pair] if pair == pair.mirror else [pair, pair.mirror]


@dataclass(frozen=True)
class RunScope:
    """The materials that a run is to solve: all up to a number of pieces, or named ones and their successors.

    Attributes:
        pieces: largest number of pieces, both sides together.
        named: the named materials; empty for all materials of 2 to `pieces` pieces.
    """

    pieces: int
    named: tuple[Material, ...] = ()

    @classmethod
    def of(cls, named: Iterable[Material]) -> "RunScope":
        """Return the scope of the named materials, at least one, and all materials that they lead to."""
        named = tuple(named)
        return cls(max(material.pieces for material in named), named)

    @cached_property
    def pairs(self) -> list[Material]:
        """The pairs to solve, each after all pairs that it leads to."""
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


def after_captures(material: Material) -> set[Material]:
    """Return the materials after a capture, seen by the next side to move.

    A man that captures may become a king. A capture of all pieces ends the game and leaves no material.
    """
    return {after for after in material.successors() if after.pieces < material.pieces}


def after_promotion(material: Material) -> set[Material]:
    """Return the material after a promotion without a capture, seen by the next side to move.

    The set is empty if the side to move has no men.
    """
    same_pieces = {after for after in material.successors() if after.pieces == material.pieces}
    return same_pieces - {material.mirror}


def capture_closure(wanted: Iterable[Material]) -> set[Material]:
    """Return some materials, their mirrors, and all materials that captures lead to from these."""
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
    """Check that a manifest has the tables of some materials.

    Args:
        manifest: the manifest.
        slices: the materials.
        metric: the metric of their tables.
        what: what needs the tables, the subject of the error message.

    Raises:
        MissingTableError: a table is missing; the message names it and the command that makes it.
    """
    slices = sorted(slices, key=Material.sort_key)
    for material in slices:
        record = manifest.slices.get(material)
        if record is None or metric not in record.files:
            raise MissingTableError(
                f"{what} needs the table {table_name(material, metric)}, which is missing; "
                f"make it with `shashki generate --pieces {slices[-1].pieces}`"
            )
