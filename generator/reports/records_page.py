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
    """Yield the lines of the page. The same tables make the same page."""
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
        f"`shashki records --pieces {records.pieces}` made this page from the tables of `shashki generate "
        f"--pieces {records.pieces}{ruleset}`: {len(records.materials)} materials, {positions:,} positions, "
        f"outcomes under the ruleset {records.ruleset}, generator {records.generator_version}."
    )
    yield ""
    yield from _paragraph(
        "White is to move and wins. White is the side that the material names first. A ply is one turn of "
        "one player; a *move*, in brackets, is two plies, rounded up. The counters of the draw rules are "
        "fresh in every position. If several positions have the same distance, the page shows the first by "
        "index. The distances are:"
    )
    yield ""
    for metric, aim in _AIMS.items():
        cursed = "; cursed wins (won without draw rules, drawn under them) are included"
        yield from _paragraph(f"- {metric.upper()}: to {aim}{cursed if metric is Metric.DTW else ''}.", "  ")
    yield ""
    yield from _paragraph(
        "*Best play* is that of `shashki line`: both sides play under the rules, for DTB and DTC before DTW. "
        "It may take fewer or more plies than the DTW. *For length alone* means that both sides play for "
        "DTW, without draw rules."
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
    """Return the material, and the number of others with as many pieces and a win as long."""
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
            "`?`: there are wins, but their length was not counted when these tables were made."
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
        yield "These tables do not tell it: lines need WDL and DTC of all materials, and a counted DTW."
        return
    above = {record.fen for record in longest_by_pieces(records.materials, Metric.DTW).values()}
    there = ", ".join(record.material for record in found if record.fen in above)
    yield from _paragraph(f"Best play from the longest win by DTW of each material. Shown above: {there}.")
    for record in found:
        if record.fen not in above and (line := records.lines.get(record.fen)) is not None:
            yield ""
            yield from _told(f"{record.material}, DTW {_plies(record.plies)}", record.fen, line)


def _told(what: str, fen: str, line: Line) -> Iterator[str]:
    """Yield a line of play: a paragraph about it, and its moves."""
    yield from _paragraph(f"**{what}**, `{fen}`: {_plies(len(line.moves))} are played. {line.reason}")
    if line.moves:
        yield ""
        yield "```text"
        # Keep a move number on the line of its move.
        yield from (text.replace("\xa0", " ") for text in _wrapped(movetext(line).replace(". ", ".\xa0")))
        yield "```"


# Outcomes


def _changed(records: Records) -> Iterator[str]:
    changed = [each for each in records.materials if each.cursed_win or each.blessed_loss]
    yield from _paragraph(
        "Positions that the side to move wins or loses without draw rules, and that the rules draw. The "
        "material names the side to move first. Capture positions are included."
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
        "Materials in which the side named first never wins, draws or loses under the rules, in any "
        "position: with that side to move, and whichever side is to move. (If one side never loses, "
        "whichever side is to move, the other side never wins.)"
    )
    yield ""
    yield from _absent_table(under_rules)
    yield ""
    if on_board == under_rules:
        yield "Without draw rules, these are the same."
    else:
        yield "Without draw rules:"
        yield ""
        yield from _absent_table(on_board)


def _absent_table(found: AbsentOutcomes) -> Iterator[str]:
    yield from _head(["", "with that side to move", "whichever side is to move"], "---", "---", "---")
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
