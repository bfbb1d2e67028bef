"""What `check_draws` found, as text for a terminal."""

from collections.abc import Iterator, Sequence

from generator.changedoutcomes import ChangedOutcomes
from generator.drawcheck import DrawCheck, RuleOutcomes
from generator.lonekings import Allowance, LoneKing, Standing

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
