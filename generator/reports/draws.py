"""What the draw rules change, counted over every position of the tables."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generator.materials import after_captures, after_promotion, capture_closure, require_tables
from generator.reports import lone_kings as lonekings
from generator.reports.lone_kings import LoneKing, LoneKings, MoveLimit, Tally
from generator.verify.slices import Done, StageProgress, stage_counter
from generator.verify.two_counters import Map, count_together
from generator.verify.values import InMemoryValues
from tablebase.board.material import Material, complete_up_to
from tablebase.board.position import Position
from tablebase.kernels.index import sets_at
from tablebase.probe.tableset import require_directory
from tablebase.rules.outcome import Outcome
from tablebase.rules.ruleset import RuleName, Ruleset
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

_CHANGED = {Outcome.CURSED_WIN.wdl, Outcome.BLESSED_LOSS.wdl}


@dataclass(frozen=True)
class ChangedOutcomes:
    """What the rules change in a material.

    Attributes:
        material: the slice, side to move first, as text.
        positions: the number of its positions.
        cursed_wins: the number of positions won without draw rules and drawn under the rules.
        cursed_win_fen: one of them; None if there is none.
        blessed_losses: the number of positions lost without draw rules and drawn under the rules.
        blessed_loss_fen: one of them; None if there is none.
    """

    material: str
    positions: int
    cursed_wins: int = 0
    cursed_win_fen: str | None = None
    blessed_losses: int = 0
    blessed_loss_fen: str | None = None


def changed_slices(directory: Path, manifest: Manifest) -> set[Material]:
    """Return the slices that may have cursed wins or blessed losses. No other slice has any.

    A file's alphabet has all values that occur in it, so it tells whether a stored position has such an
    outcome. A capture position can have one only if a capture leads to one.

    Raises:
        TableError: a table cannot be read.
        OSError: a file does not exist or cannot be read.
    """
    found: set[Material] = set()
    for material in sorted(manifest.slices, key=lambda each: each.pieces):
        with Table(directory / table_name(material, Metric.WDL)) as table:
            stored = bool(_CHANGED & set(table.header.alphabet))
        if stored or any(after in found for after in after_captures(material)):
            found.add(material)
    return found


def tables_of_changed(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """Return the slices whose tables are needed to count cursed wins and blessed losses.

    Raises:
        MissingTableError: a table is missing; the message names it.
    """
    needed = capture_closure(changed)
    require_tables(manifest, needed, Metric.WDL, "counting what the rules change")
    return needed


def changed_outcomes(
    values: InMemoryValues, changed: set[Material], every: Iterable[Material]
) -> Iterator[ChangedOutcomes]:
    """Yield the counts of each material, in the given order.

    Args:
        values: outcomes of the slices of `tables_of_changed`, with those of capture positions.
        changed: the slices that may have cursed wins or blessed losses.
        every: the slices to report.
    """
    for material in every:
        if material not in changed:
            yield ChangedOutcomes(str(material), material.positions)
            continue
        slice_id = values.slice_id(material)
        start = values.arena.layout.start
        wdl = values.arena.wdl[int(start[slice_id]) : int(start[slice_id + 1])]
        cursed, blessed = wdl == Outcome.CURSED_WIN.wdl, wdl == Outcome.BLESSED_LOSS.wdl
        yield ChangedOutcomes(
            str(material),
            material.positions,
            int(np.count_nonzero(cursed)),
            _first(values, slice_id, cursed),
            int(np.count_nonzero(blessed)),
            _first(values, slice_id, blessed),
        )


def _first(values: InMemoryValues, slice_id: int, among: NDArray[np.bool_]) -> str | None:
    if not among.any():
        return None
    return Position(*sets_at(values.arena.layout, slice_id, int(among.argmax()))).to_fen()


def tables_of_king_moves_alone(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """Return the slices whose tables are needed for the king-moves rule alone: all that moves lead to.

    Raises:
        MissingTableError: a table is missing; the message names it.
    """
    both = {each for material in changed for each in (material, material.mirror)}
    needed = capture_closure(both | {after for material in both for after in after_promotion(material)})
    require_tables(manifest, needed, Metric.WDL, "counting what the king-moves rule alone changes")
    return needed


def leave_king_moves_alone(
    values: InMemoryValues, changed: Iterable[Material], plies: int, run: Map, done: Done
) -> None:
    """Write the outcomes under the king-moves rule alone to the arena.

    A further rule only turns wins and losses into draws. So only stored cursed wins and blessed losses can
    differ. If the king-moves rule alone does not draw them, they become wins and losses.

    Args:
        values: outcomes under both rules of the slices of `tables_of_king_moves_alone`, with those of capture
            positions.
        changed: the slices that may have cursed wins or blessed losses.
        plies: the plies that kings may move in a row.
        run: maps a function over tasks: `map`, or `Executor.map`.
        done: called with the number of positions of each finished pair of slices.
    """
    wdl, start = values.arena.wdl, values.arena.layout.start
    pairs = {tuple(sorted((each, each.mirror), key=values.slice_id)) for each in changed}
    stale = False  # whether outcomes changed that values of capture positions were derived from
    pieces = 0
    # Successors come first: fewer pieces, then fewer men.
    for first, last in sorted(pairs, key=lambda pair: pair[0].sort_key()):
        if stale and first.pieces > pieces:
            values.fill(lambda more: None)
            stale = False
        pieces = first.pieces
        end = int(start[values.slice_id(last) + 1])
        counts = count_together(values.arena, values.slice_id(first), values.slice_id(last), plies, run)
        stale = stale or not np.array_equal(wdl[counts.first : end], counts.stored)
        done(len(counts.stored))


_FEWEST = 4  # pieces: three against a lone king
_IN_TABLES = (RuleName.KING_MOVES, RuleName.BALANCE)


@dataclass(frozen=True)
class RuleOutcomes:
    """What some rules of the tables change, for each material.

    Attributes:
        ruleset: the name of the tables' ruleset.
        rules: the names of the rules applied; all others are ignored.
        materials: every material of the tables, fewer pieces first, then fewer men.
    """

    ruleset: str
    rules: list[str]
    materials: list[ChangedOutcomes]


@dataclass(frozen=True)
class DrawCheck:
    """What `check_draws` found.

    Attributes:
        pieces: the greatest n such that the tables have all materials of up to n pieces.
        lone_kings: the materials of the rules on a lone king.
        outcomes: the effect of all rules that the tables apply; then, if there are two, the effect of the
            king-moves rule alone.
    """

    pieces: int
    lone_kings: list[LoneKing]
    outcomes: list[RuleOutcomes]


def check_draws(directory: Path, jobs: int = 1, progress: StageProgress | None = None) -> DrawCheck:
    """Count, over every position of the tables, what the draw rules change.

    Args:
        directory: the data directory: 4 pieces or more, with WDL for all materials, and with DTW up to 4
            pieces and for more kings against one.
        jobs: the number of threads.
        progress: called with the progress.

    Raises:
        DataDirectoryError: the directory does not exist.
        ManifestError: the directory has no manifest, or it cannot be read.
        WrongVersionError: the manifest has another version.
        MissingTableError: a table that is needed is missing; the message names it.
        TableError: a table cannot be read, or the tables contradict each other.
        OSError: a file cannot be read.
    """
    require_directory(directory)
    manifest = Manifest.load(directory)
    pieces = complete_up_to(lambda material: material in manifest.slices)
    most = max(pieces, _FEWEST)
    against_one = lonekings.tables_needed(manifest, most)
    changed = changed_slices(directory, manifest)
    touched = tables_of_changed(manifest, changed)
    rules = _rules_in_tables(manifest.ruleset)
    king_plies = manifest.ruleset.king_moves_plies if len(rules) > 1 else None
    if king_plies is not None:
        touched |= tables_of_king_moves_alone(manifest, changed)
    with ThreadPoolExecutor(jobs) as pool:
        values = InMemoryValues(
            directory, against_one, (Metric.WDL, Metric.DTW), manifest.ruleset, pool, jobs
        )
        values.fill(_counter(progress, "lone kings", against_one))
        found = list(LoneKings(values, most))
        values = InMemoryValues(directory, touched, (Metric.WDL,), manifest.ruleset, pool, jobs)
        values.fill(_counter(progress, "outcomes", touched))
        every = sorted(manifest.slices, key=Material.sort_key)

        def outcomes(rules: Sequence[RuleName]) -> RuleOutcomes:
            counted = changed_outcomes(values, changed, every)
            return RuleOutcomes(manifest.ruleset.name, [str(rule) for rule in rules], list(counted))

        changes = [outcomes(rules)]
        if king_plies is not None:
            total = _all_positions(changed | {each.mirror for each in changed})
            done = stage_counter(progress, "king moves alone", total)
            leave_king_moves_alone(values, changed, king_plies, pool.map, done)
            changes.append(outcomes([RuleName.KING_MOVES]))
    return DrawCheck(pieces, found, changes)


def _all_positions(slices: Iterable[Material]) -> int:
    return sum(material.positions for material in slices)


def _rules_in_tables(ruleset: Ruleset) -> list[RuleName]:
    return [rule.name for rule in ruleset.rules if rule.name in _IN_TABLES]


def _counter(progress: StageProgress | None, stage: str, slices: Iterable[Material]) -> Done:
    return stage_counter(progress, stage, sum(material.positions for material in slices))


_CHANGED_COLUMNS = ("positions", "cursed wins", "blessed losses")
_TALLY_COLUMNS = ("positions", "won", "drawn", "lost", "longest win")
_BEYOND_COLUMNS = ("limit", "won on road", "beyond limit", "won off road", "beyond limit")
_MOVE_LIMIT_COLUMNS = ("wins", "limit", "longest", "beyond limit")


def draw_check_text(check: DrawCheck) -> Iterator[str]:
    """Yield the lines of the report. Distances are in moves of the stronger side."""
    yield "Against a lone king, without draw rules. The stronger side is to move; longest win in moves."
    yield from _tallies(check.lone_kings)
    yield ""
    yield "Draws of a lone king off the main road: all, and those in which neither side could capture"
    for found in check.lone_kings:
        off = found.off_road
        yield f"{found.material:<23}{off.drawn:>16,}{off.drawn_quiet:>16,}   {off.drawn_fen or 'none'}"
    yield ""
    yield "Moves that a rule allows the stronger side, and the most that a win needs. three-kings: to the end"
    yield "of the game. main-road: until the lone king is off the road, captured or blocked, or has captured."
    yield from _move_limits(check.lone_kings)
    yield ""
    yield "Wins that need more moves to the end of the game than main-road allows"
    yield from _beyond_road_limit(check.lone_kings)
    for outcomes in check.outcomes:
        yield ""
        yield from _changes(outcomes)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<23}" + "".join(f"{cell:>16}" for cell in cells)


def _tallies(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("material", _TALLY_COLUMNS)
    for lone_king in found:
        for where, tally in (("on the road", lone_king.on_road), ("off the road", lone_king.off_road)):
            name = f"{lone_king.material:<10}{where}"
            yield (_row(name, _tally_cells(tally)) + f"   {tally.longest_win_fen or ''}").rstrip()


def _tally_cells(tally: Tally) -> list[str]:
    counts = (tally.positions, tally.won, tally.drawn, tally.lost)
    longest = tally.longest_win_moves
    return [*(f"{count:,}" for count in counts), "-" if longest is None else str(longest)]


def _move_limits(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("rule         material", _MOVE_LIMIT_COLUMNS)
    for name in ("three_kings", "main_road"):
        for lone_king in found:
            move_limit: MoveLimit | None = getattr(lone_king, name)
            if move_limit is not None:
                longest = move_limit.longest_moves
                cells = (
                    f"{move_limit.wins:,}",
                    str(move_limit.limit_moves),
                    "-" if longest is None else str(longest),
                    f"{move_limit.beyond_limit:,}",
                )
                yield (
                    _row(f"{name.replace('_', '-'):<13}{lone_king.material}", cells)
                    + f"   {move_limit.longest_fen or ''}"
                    + ("" if move_limit.ruleset == "official" else f" ({move_limit.ruleset})")
                )


def _beyond_road_limit(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("material", _BEYOND_COLUMNS)
    for lone_king in found:
        if lone_king.main_road is not None:
            cells = [str(lone_king.main_road.limit_moves)]
            for tally in (lone_king.on_road, lone_king.off_road):
                cells += [f"{tally.won:,}", f"{tally.wins_beyond_road_limit:,}"]
            yield _row(lone_king.material, cells)


def _changes(outcomes: RuleOutcomes) -> Iterator[str]:
    changed = [each for each in outcomes.materials if each.cursed_wins or each.blessed_losses]
    rules = " and ".join(outcomes.rules) or "no rule"
    yield f"Outcomes that differ from those without draw rules: {rules}, ruleset {outcomes.ruleset}"
    if changed:
        yield _row("material", _CHANGED_COLUMNS)
    for each in changed:
        cells = [f"{count:,}" for count in (each.positions, each.cursed_wins, each.blessed_losses)]
        examples = ", ".join(fen for fen in (each.cursed_win_fen, each.blessed_loss_fen) if fen)
        yield f"{_row(each.material, cells)}   {examples}"
    rest = len(outcomes.materials) - len(changed)
    others = "the other " if changed else ""
    yield f"none in {others}{rest} materials, {_positions(outcomes, changed):,} positions"


def _positions(outcomes: RuleOutcomes, changed: Sequence[ChangedOutcomes]) -> int:
    return sum(each.positions for each in outcomes.materials) - sum(each.positions for each in changed)
