"""The records of a set of tables as a page of Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from generator.reports.records import (
    DISTANCES,
    AbsentOutcomes,
    Longest,
    Records,
    absent_outcomes,
    longest,
    longest_by_pieces,
)
from tablebase.board.material import Material
from tablebase.probe.line import Line
from tablebase.report.positions import in_moves
from tablebase.report.text import movetext
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Statistics

_WIDTH = 110
_AIMS = {
    Metric.DTW: "the end of the game, without draw rules",
    Metric.DTC: "the next capture, man's move or end of the game",
    Metric.DTB: "the next capture, promotion or end of the game",
}


def records_text(records: Records) -> Iterator[str]:
    """The lines of the page. The same tables make the same page."""
    yield "# Records"
    yield ""
    yield from _introduction(records)
    yield from _section("The longest wins of each number of pieces", _by_pieces(records))
    yield from _section("The longest wins of each material", _by_material(records))
    yield from _section("Cursed wins and blessed losses", _changed(records))
    yield from _section("Never won, never drawn, never lost", _absent(records))
    yield from _section("The longest win of each material, move by move", _lines(records))


def _section(heading: str, body: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"## {heading}"
    yield ""
    yield from body


def _introduction(records: Records) -> Iterator[str]:
    ruleset = "" if records.ruleset == OFFICIAL.name else f" --ruleset {records.ruleset}"
    positions = sum(each.positions for each in records.materials)
    yield from _paragraph(
        f"Made by `shashki records --pieces {records.pieces}`, and not written by hand, from the tables of "
        f"`shashki generate --pieces {records.pieces}{ruleset}`: {len(records.materials)} materials, "
        f"{positions:,} positions, outcomes under the ruleset {records.ruleset}, generator "
        f"{records.generator_version}."
    )
    yield ""
    yield from _paragraph(
        "White is to move and wins, and is the side of the material that is named first. A ply is one turn "
        "of one player; a *move*, in brackets, is two plies, rounded up. Counts of the draw rules are fresh "
        "in every position. Of several positions with the same distance the first in the order of the "
        "index stands here. The distances are:"
    )
    yield ""
    for metric, aim in _AIMS.items():
        cursed = "; cursed wins, won on the board and drawn under the rules, are among them"
        yield from _paragraph(f"- {metric.upper()}: to {aim}{cursed if metric is Metric.DTW else ''}.", "  ")
    yield ""
    yield from _paragraph(
        "*Best play* is that of `shashki line`: of both sides under the rules, for DTB and DTC before DTW, "
        "so that it may take fewer or more plies than the DTW. *For length alone* both sides play for DTW, "
        "as if there were no draw rules."
    )


# Each number of pieces


def _by_pieces(records: Records) -> Iterator[str]:
    found = {metric: longest_by_pieces(records.materials, metric) for metric in DISTANCES}
    yield from _head(["pieces", "by", "plies (moves)", "material", "position"], "---", "---", "---:")
    for pieces in range(2, records.pieces + 1):
        for metric in DISTANCES:
            if record := found[metric].get(pieces):
                yield _row([str(pieces), metric.upper(), *_cells(record, _as_long(records, metric, record))])
    for pieces in range(2, records.pieces + 1):
        by_position: dict[str, tuple[Longest, list[Metric]]] = {}
        for metric in DISTANCES:
            if record := found[metric].get(pieces):
                by_position.setdefault(record.fen, (record, []))[1].append(metric)
        if not any(fen in records.lines or fen in records.board_lines for fen in by_position):
            continue
        yield ""
        yield f"### {pieces} pieces"
        for record, metrics in by_position.values():
            yield from _play(records, record, metrics)


def _as_long(records: Records, metric: Metric, record: Longest) -> str:
    """The material, and how many others of as many pieces have a win as long."""
    pieces = Material.parse(record.material).pieces
    others = sum(
        each.material != record.material
        and Material.parse(each.material).pieces == pieces
        and (other := longest(each, metric)) is not None
        and other.plies == record.plies
        for each in records.materials
    )
    return f"{record.material}, and {others} more" if others else record.material


def _play(records: Records, record: Longest, metrics: Sequence[Metric]) -> Iterator[str]:
    by = " and ".join(metric.upper() for metric in metrics)
    alone, best = records.board_lines.get(record.fen), records.lines.get(record.fen)
    told = [("for length alone", alone), ("best play", best)]
    if alone is not None and best is not None and alone.positions == best.positions:
        told = [("for length alone and best play alike", best)]
    for name, line in told:
        if line is not None:
            yield ""
            yield from _told(f"{record.material}, longest by {by}, {name}", record.fen, line)


# Each material


def _by_material(records: Records) -> Iterator[str]:
    if any(_wins(each) and each.longest_win_plies is None for each in records.materials):
        yield from _paragraph(
            "`?`: there are wins, and how long they are was not counted when these tables were made."
        )
        yield ""
    metrics = [metric for metric in DISTANCES if any(longest(each, metric) for each in records.materials)]
    head = ["material", *(f"{metric.upper()}{what}" for metric in metrics for what in ("", ", position"))]
    yield from _head(head, "---", *["---:", "---"] * len(metrics))
    for each in records.materials:
        cells = [each.material]
        for metric in metrics:
            record = longest(each, metric)
            if record is None:
                unknown = metric is not Metric.DTB and _wins(each)
                cells += ["?" if unknown else "", ""]
            else:
                cells += [_plies(record.plies), f"`{record.fen}`"]
        yield _row(cells)


def _wins(counted: Statistics) -> int:
    return counted.win + counted.cursed_win


def _lines(records: Records) -> Iterator[str]:
    found = [record for each in records.materials if (record := longest(each, Metric.DTW))]
    if not any(record.fen in records.lines for record in found):
        yield "These tables do not tell it: that takes WDL and DTC of all materials, and a counted DTW."
        return
    above = {record.fen for record in longest_by_pieces(records.materials, Metric.DTW).values()}
    there = ", ".join(record.material for record in found if record.fen in above)
    yield from _paragraph(f"From the longest win by DTW of each material, best play. Above: {there}.")
    for record in found:
        if record.fen not in above and (line := records.lines.get(record.fen)) is not None:
            yield ""
            yield from _told(f"{record.material}, DTW {_plies(record.plies)}", record.fen, line)


def _told(what: str, fen: str, line: Line) -> Iterator[str]:
    """A line of play: a paragraph about it, and its moves."""
    yield from _paragraph(f"**{what}**, `{fen}`: {_plies(len(line.moves))} are played. {line.reason}")
    if line.moves:
        yield ""
        yield "```text"
        # A number stays on the line of its move.
        yield from (text.replace("\xa0", " ") for text in _wrapped(movetext(line).replace(". ", ".\xa0")))
        yield "```"


# Outcomes


def _changed(records: Records) -> Iterator[str]:
    changed = [each for each in records.materials if each.cursed_win or each.blessed_loss]
    yield from _paragraph(
        "Won, or lost, on the board, and drawn under the rules, for the side to move, which is named first. "
        "Positions with a capture are counted too."
    )
    if changed:
        yield ""
        yield from _head(
            ["material", "positions", "cursed wins", "blessed losses"], "---", "---:", "---:", "---:"
        )
        for each in changed:
            counts = (each.positions, each.cursed_win, each.blessed_loss)
            yield _row([each.material, *(f"{count:,}" for count in counts)])
    rest = len(records.materials) - len(changed)
    yield ""
    yield f"{'The other' if changed else 'All'} {rest} materials have none."


def _absent(records: Records) -> Iterator[str]:
    under_rules = absent_outcomes(records.materials, on_the_board=False)
    on_board = absent_outcomes(records.materials, on_the_board=True)
    yield from _paragraph(
        "Materials in which the side that is named first never wins, draws or loses, whatever the position, "
        "under the rules: with that side to move, and whichever side is to move. (What one side never loses, "
        "whoever is to move, the other side never wins.)"
    )
    yield ""
    yield from _absent_table(under_rules)
    yield ""
    if on_board == under_rules:
        yield "On the board, without draw rules, these are the same."
    else:
        yield "On the board, without draw rules:"
        yield ""
        yield from _absent_table(on_board)


def _absent_table(found: AbsentOutcomes) -> Iterator[str]:
    yield from _head(["", "with that side to move", "whoever is to move"], "---", "---", "---")
    for what, moving, by_turns in (
        ("never won", found.won, found.won_by_turns),
        ("never drawn", found.drawn, found.drawn_by_turns),
        ("never lost", found.lost, found.lost_by_turns),
    ):
        yield _row([what, ", ".join(moving) or "none", ", ".join(by_turns) or "none"])


# Markdown


def _plies(plies: int) -> str:
    return f"{plies} {'ply' if plies == 1 else 'plies'} ({in_moves(plies)})"


def _cells(record: Longest, material: str) -> list[str]:
    return [f"{record.plies} ({in_moves(record.plies)})", material, f"`{record.fen}`"]


def _head(names: Sequence[str], *rules: str) -> Iterator[str]:
    yield _row(names)
    yield _row([*rules, *["---"] * (len(names) - len(rules))])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _paragraph(text: str, indent: str = "") -> list[str]:
    return _wrapped(text, indent)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
