"""What the draw rules change, counted over every position of the tables."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generator.materials import after_captures, after_promotion, capture_closure, require_tables
from generator.reports import lone_kings as lonekings
from generator.reports.lone_kings import Allowance, LoneKing, LoneKings, Standing
from generator.verify.slices import Done, StageProgress, stage_counter
from generator.verify.two_counters import Map, count_together
from generator.verify.values import Values
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
    """What the rules of the tables change in a material.

    Attributes:
        material: the slice, side to move first, as text.
        positions: how many it has.
        cursed_wins: positions won on the board and drawn under the rules, and an example.
        blessed_losses: positions lost on the board and drawn under the rules, and an example.
    """

    material: str
    positions: int
    cursed_wins: int = 0
    cursed_win_fen: str | None = None
    blessed_losses: int = 0
    blessed_loss_fen: str | None = None


def changed_slices(directory: Path, manifest: Manifest) -> set[Material]:
    """The slices that can have such an outcome; every other has none.

    A position without a capture has one if the file says so, and a file's alphabet lists all the values that
    occur in it. One with a capture has one only if a capture leads to one.

    Raises:
        TableError: a table cannot be read.
        OSError: it is not there.
    """
    found: set[Material] = set()
    for material in sorted(manifest.slices, key=lambda each: each.pieces):
        with Table(directory / table_name(material, Metric.WDL)) as table:
            stored = bool(_CHANGED & set(table.header.alphabet))
        if stored or any(after in found for after in after_captures(material)):
            found.add(material)
    return found


def tables_of_changed(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """The slices that it takes to count those.

    Raises:
        MissingTableError: one is not there; the message names the table.
    """
    needed = capture_closure(changed)
    require_tables(manifest, needed, Metric.WDL, "counting what the rules change")
    return needed


def changed_outcomes(
    values: Values, changed: set[Material], every: Iterable[Material]
) -> Iterator[ChangedOutcomes]:
    """Count, material by material, in the order given.

    Args:
        values: outcomes of the slices of `tables_of_changed`, positions with a capture filled in.
        changed: the slices that can have such an outcome.
        every: the slices to report.
    """
    for material in every:
        if material not in changed:
            yield ChangedOutcomes(str(material), material.positions)
            continue
        number = values.number(material)
        start = values.arena.layout.start
        wdl = values.arena.wdl[int(start[number]) : int(start[number + 1])]
        cursed, blessed = wdl == Outcome.CURSED_WIN.wdl, wdl == Outcome.BLESSED_LOSS.wdl
        yield ChangedOutcomes(
            str(material),
            material.positions,
            int(np.count_nonzero(cursed)),
            _first(values, number, cursed),
            int(np.count_nonzero(blessed)),
            _first(values, number, blessed),
        )


def _first(values: Values, number: int, among: NDArray[np.bool_]) -> str | None:
    if not among.any():
        return None
    return Position(*sets_at(values.arena.layout, number, int(among.argmax()))).to_fen()


def tables_of_king_moves_alone(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """The slices that it takes to work out those: all that moves lead to from there.

    Raises:
        MissingTableError: one is not there; the message names the table.
    """
    both = {each for material in changed for each in (material, material.mirror)}
    needed = capture_closure(both | {after for material in both for after in after_promotion(material)})
    require_tables(manifest, needed, Metric.WDL, "telling what the king-moves rule alone changes")
    return needed


def leave_king_moves_alone(
    values: Values, changed: Iterable[Material], plies: int, run: Map, done: Done
) -> None:
    """Put into the arena what the king-moves rule alone makes of every position.

    A rule more makes draws of wins and losses, never the other way round, so only positions stored as cursed
    wins and blessed losses can differ. Those that the king-moves rule does not draw become wins and losses.

    Args:
        values: outcomes under both rules of the slices of `tables_of_king_moves_alone`, those with a capture
            filled in.
        changed: the slices that can have cursed wins or blessed losses.
        plies: how many plies kings may move in a row.
        run: how to do many things: `map`, or that of a pool of threads.
        done: told how many positions of the changed slices and their mirrors are done with.
    """
    wdl, start = values.arena.wdl, values.arena.layout.start
    pairs = {tuple(sorted((each, each.mirror), key=values.number)) for each in changed}
    stale = False  # whether positions with a capture are filled from outcomes that have changed since
    pieces = 0
    # What a move leads to comes first: fewer pieces, then fewer men.
    for first, last in sorted(pairs, key=lambda pair: pair[0].place()):
        if stale and first.pieces > pieces:
            values.fill(lambda more: None)
            stale = False
        pieces = first.pieces
        end = int(start[values.number(last) + 1])
        counts = count_together(values.arena, values.number(first), values.number(last), plies, run)
        stale = stale or not np.array_equal(wdl[counts.first : end], counts.stored)
        done(len(counts.stored))


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


def check_draws(directory: Path, jobs: int = 1, progress: StageProgress | None = None) -> DrawCheck:
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
        values = Values(directory, against_one, (Metric.WDL, Metric.DTW), manifest.ruleset, pool, jobs)
        values.fill(stage_counter(progress, "lone kings", _all_positions(against_one)))
        found = list(LoneKings(values, most))
        values = Values(directory, touched, (Metric.WDL,), manifest.ruleset, pool, jobs)
        values.fill(stage_counter(progress, "outcomes", _all_positions(touched)))
        every = sorted(manifest.slices, key=Material.place)

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


_CHANGED_COLUMNS = ("positions", "cursed wins", "blessed losses")
_STANDING_COLUMNS = ("positions", "won", "drawn", "lost", "longest win")
_BEYOND_COLUMNS = ("limit", "won on road", "beyond limit", "won off road", "beyond limit")
_ALLOWANCE_COLUMNS = ("wins", "limit", "longest", "beyond limit")


def draw_check_text(check: DrawCheck) -> Iterator[str]:
    """The lines of the report; distances in moves of the stronger side."""
    yield "Against a lone king, on the board. The stronger side is to move; longest win in moves."
    yield from _standings(check.lone_kings)
    yield ""
    yield "A lone king off the main road that draws: positions, and those in which neither side could capture"
    for found in check.lone_kings:
        off = found.off_road
        yield f"{found.material:<23}{off.drawn:>16,}{off.drawn_quiet:>16,}   {off.drawn_fen or 'none'}"
    yield ""
    yield "Moves that a rule gives the stronger side, and the most that a win needs. three-kings: to the end"
    yield "of the game. main-road: until the lone king is off the road, captured or blocked, or has captured."
    yield from _allowances(check.lone_kings)
    yield ""
    yield "Wins that take more than the moves of main-road to the end of the game"
    yield from _beyond_road_limit(check.lone_kings)
    for outcomes in check.outcomes:
        yield ""
        yield from _changes(outcomes)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<23}" + "".join(f"{cell:>16}" for cell in cells)


def _standings(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("material", _STANDING_COLUMNS)
    for lone_king in found:
        for where, standing in (("on the road", lone_king.on_road), ("off the road", lone_king.off_road)):
            name = f"{lone_king.material:<10}{where}"
            yield (_row(name, _standing_cells(standing)) + f"   {standing.longest_win_fen or ''}").rstrip()


def _standing_cells(standing: Standing) -> list[str]:
    counts = (standing.positions, standing.won, standing.drawn, standing.lost)
    longest = standing.longest_win_moves
    return [*(f"{count:,}" for count in counts), "-" if longest is None else str(longest)]


def _allowances(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("rule         material", _ALLOWANCE_COLUMNS)
    for name in ("three_kings", "main_road"):
        for lone_king in found:
            allowance: Allowance | None = getattr(lone_king, name)
            if allowance is not None:
                longest = allowance.longest_moves
                cells = (
                    f"{allowance.wins:,}",
                    str(allowance.limit_moves),
                    "-" if longest is None else str(longest),
                    f"{allowance.beyond_limit:,}",
                )
                yield (
                    _row(f"{name.replace('_', '-'):<13}{lone_king.material}", cells)
                    + f"   {allowance.longest_fen or ''}"
                    + ("" if allowance.ruleset == "official" else f" ({allowance.ruleset})")
                )


def _beyond_road_limit(found: Sequence[LoneKing]) -> Iterator[str]:
    yield _row("material", _BEYOND_COLUMNS)
    for lone_king in found:
        if lone_king.main_road is not None:
            cells = [str(lone_king.main_road.limit_moves)]
            for standing in (lone_king.on_road, lone_king.off_road):
                cells += [f"{standing.won:,}", f"{standing.wins_beyond_road_limit:,}"]
            yield _row(lone_king.material, cells)


def _changes(outcomes: RuleOutcomes) -> Iterator[str]:
    changed = [each for each in outcomes.materials if each.cursed_wins or each.blessed_losses]
    rules = " and ".join(outcomes.rules) or "no rule"
    yield f"Outcomes that differ from those on the board: {rules}, ruleset {outcomes.ruleset}"
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
