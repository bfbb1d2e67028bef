"""Which slices it takes to work out positions of others: what captures and promotions lead to."""

from collections.abc import Iterable, Iterator

from tablebase.errors import MissingTableError
from tablebase.format import Metric, table_name
from tablebase.manifest import Manifest
from tablebase.material import Material


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


def with_captures(wanted: Iterable[Material]) -> set[Material]:
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
    slices = sorted(slices, key=Material.place)
    for material in slices:
        record = manifest.slices.get(material)
        if record is None or metric not in record.files:
            raise MissingTableError(
                f"{what} takes the table {table_name(material, metric)}, which is not there; "
                f"make it with `shashki generate --pieces {slices[-1].pieces}`"
            )
