"""What the draw rules do to the game, counted over every position of the tables."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from generator import changedoutcomes, kingmovesalone, lonekings
from generator.changedoutcomes import ChangedOutcomes
from generator.checkedset import Done
from generator.lonekings import LoneKing, LoneKings
from generator.valuecheck import Values
from tablebase.errors import DataDirectoryError
from tablebase.format import Metric
from tablebase.manifest import Manifest
from tablebase.material import Material, materials
from tablebase.ruleset import RuleName, Ruleset

Progress = Callable[[str, int, int], None]
"""Called now and then with what is under way, and how many positions of how many are done."""

_FEWEST = 4  # pieces: three against a lone king
_IN_TABLES = (RuleName.KING_MOVES, RuleName.BALANCE)


@dataclass(frozen=True)
class RuleOutcomes:
    """What some rules of the tables change, for each material.

    Attributes:
        ruleset: the ruleset of the tables.
        rules: the rules of it that are looked at, all others left aside.
        materials: every material of the tables, fewer pieces first, then fewer men.
    """

    ruleset: str
    rules: list[str]
    materials: list[ChangedOutcomes]


@dataclass(frozen=True)
class DrawCheck:
    """What `check_draws` found.

    Attributes:
        pieces: the most pieces of which the tables have all materials.
        lone_kings: the materials of the rules on a lone king.
        outcomes: cursed wins and blessed losses: what all rules that outcomes in tables know make together;
            then, where these are two, what the king-moves rule alone makes.
    """

    pieces: int
    lone_kings: list[LoneKing]
    outcomes: list[RuleOutcomes]


def check_draws(directory: Path, jobs: int = 1, progress: Progress | None = None) -> DrawCheck:
    """Count, over every position of the tables, what the draw rules do to the game.

    Args:
        directory: the data directory: 4 pieces or more, with WDL for all and DTW up to 4 pieces and for more
            kings against one.
        jobs: threads.
        progress: told how far it has come.

    Raises:
        DataDirectoryError: there is no such directory.
        ManifestError, WrongVersionError: the directory has no manifest that can be read.
        MissingTableError: a table that it takes is not there; the message names it.
        TableError: a table cannot be read, or the tables contradict each other.
        OSError: a file cannot be read.
    """
    if not directory.is_dir():
        raise DataDirectoryError(
            f"{directory} is no directory; make tables with `shashki generate`, or name another one"
        )
    manifest = Manifest.load(directory)
    pieces = _complete_to(manifest)
    most = max(pieces, _FEWEST)
    against_one = lonekings.tables_needed(manifest, most)
    changed = changedoutcomes.changed_slices(directory, manifest)
    touched = changedoutcomes.tables_needed(manifest, changed)
    rules = _rules_in_tables(manifest.ruleset)
    king_plies = manifest.ruleset.king_moves_plies if len(rules) > 1 else None
    if king_plies is not None:
        touched |= kingmovesalone.tables_needed(manifest, changed)
    with ThreadPoolExecutor(jobs) as pool:
        values = Values(directory, against_one, (Metric.WDL, Metric.DTW), manifest.ruleset, pool, jobs)
        values.fill(_counter(progress, "lone kings", against_one))
        found = list(LoneKings(values, most))
        values = Values(directory, touched, (Metric.WDL,), manifest.ruleset, pool, jobs)
        values.fill(_counter(progress, "outcomes", touched))
        every = sorted(manifest.slices, key=Material.place)

        def outcomes(rules: Sequence[RuleName]) -> RuleOutcomes:
            counted = changedoutcomes.changed_outcomes(values, changed, every)
            return RuleOutcomes(manifest.ruleset.name, [str(rule) for rule in rules], list(counted))

        changes = [outcomes(rules)]
        if king_plies is not None:
            done = _counter(progress, "king moves alone", changed | {each.mirror for each in changed})
            kingmovesalone.leave_king_moves_alone(values, changed, king_plies, pool.map, done)
            changes.append(outcomes([RuleName.KING_MOVES]))
    return DrawCheck(pieces, found, changes)


def _complete_to(manifest: Manifest) -> int:
    pieces = 1
    while all(material in manifest.slices for material in materials(pieces + 1)):
        pieces += 1
    return pieces


def _rules_in_tables(ruleset: Ruleset) -> list[RuleName]:
    return [rule.name for rule in ruleset.rules if rule.name in _IN_TABLES]


def _counter(progress: Progress | None, what: str, slices: Iterable[Material]) -> Done:
    total = sum(material.positions for material in slices)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(what, done, total)

    return count
