"""What tables answer: values, moves and lines, held to a naive solver and to positions from outside."""

import csv
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import naive
import numpy as np
import pytest
from naive import Solved
from paths import GOLDEN
from strategies import random_positions
from table_files import as_probe, write_solved

from tablebase import (
    ArgumentError,
    Clock,
    Line,
    LineEnd,
    Material,
    Metric,
    MissingTableError,
    Outcome,
    Position,
    Probe,
    Ruleset,
    Tablebase,
    open_tablebase,
)
from tablebase.board.position import legal_moves, position_after
from tablebase.games.search import RuleSearch
from tablebase.rules.outcome import LOST, UNKNOWN, move_order
from tablebase.rules.rulesets import OFFICIAL, RULESETS
from tablebase.tables.format import table_name, write_table

POSITIONS = GOLDEN / "positions.csv"
THREE_QUIET = "W:WKa1,Ka3:BKh2"
ONE_PLY = Ruleset("one-ply", 1)


@pytest.fixture
def two(plain2: Path) -> Iterator[Tablebase]:
    with open_tablebase(plain2) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty() -> dict[Position, Solved]:
    """Two pieces under a rule so short that it makes cursed wins even here."""
    return naive.solve(2, limit=1)


@pytest.fixture
def one_ply(
    hasty: dict[Position, Solved], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Tablebase]:
    monkeypatch.setitem(RULESETS, ONE_PLY.name, ONE_PLY)
    write_solved(tmp_path, hasty, 2, ruleset=ONE_PLY)
    with Tablebase(ruleset=ONE_PLY) as opened:
        opened.add_directory(tmp_path)
        yield opened


# Values


def test_probe_every_position_of_two_pieces(two: Tablebase, solved2: dict[Position, Solved]) -> None:
    assert len(solved2) > 3488
    for position, value in solved2.items():
        for seen in (position, position.flip()):
            assert two.probe(seen) == as_probe(value, position)
        assert (two.probe_wdl(position), two.probe_dtc(position), two.probe_dtw(position)) == value
        assert (two.get_wdl(position), two.get_dtc(position), two.get_dtw(position)) == value
        assert two.probe_dtb(position) == two.get_dtb(position) == as_probe(value, position).dtb


def test_cursed_wins_and_blessed_losses(one_ply: Tablebase, hasty: dict[Position, Solved]) -> None:
    assert {value.wdl for value in hasty.values()} == {-2, -1, 0, 1, 2}
    for position, value in hasty.items():
        assert one_ply.probe(position) == as_probe(value, position, balance=False)


def test_each_distance_needs_only_its_own_table(tmp_path: Path) -> None:
    """Where it has one. Asked together or alone, with the others there or not."""
    material, position = Material.parse("KMvK"), Position.from_fen("W:WKc1,h2:BKb8")
    stored = {Metric.WDL: 2, Metric.DTC: 3, Metric.DTW: 10, Metric.DTB: 7}
    for metric, value in stored.items():
        values = np.full(material.positions, value, np.int16)
        path = tmp_path / table_name(material, metric)
        write_table(path, material, metric, OFFICIAL, values, generator_version="test")
    with open_tablebase(tmp_path) as opened:
        assert opened.probe(position) == Probe(Outcome.WIN, 3, 21, 7)
        assert (opened.probe_dtc(position), opened.probe_dtw(position), opened.probe_dtb(position)) == (
            3,
            21,
            7,
        )
    (tmp_path / "KMvK.dtc").unlink()
    with open_tablebase(tmp_path) as opened:
        assert opened.probe(position) == Probe(Outcome.WIN, None, 21, 7)
        assert opened.probe_dtb(position) == 7
    (tmp_path / "KMvK.dtb").unlink()
    with open_tablebase(tmp_path) as opened:
        assert opened.probe(position) == Probe(Outcome.WIN, None, 21)
        assert (opened.get_dtb(position), opened.get_dtb(position, -1)) == (None, -1)
        with pytest.raises(MissingTableError, match=r"KMvK\.dtb"):
            opened.probe_dtb(position)


def test_probe_golden_positions(two: Tablebase) -> None:
    checked = 0
    with POSITIONS.open() as file:
        for row in csv.DictReader(file):
            position = Position.from_fen(row["fen"])
            probe = two.get_probe(position)
            if probe == UNKNOWN:
                assert position.pieces > 2
                continue
            checked += 1
            assert str(probe.outcome) == row["outcome"], row
            assert ("" if probe.dtc is None else str(probe.dtc)) == row["dtc_plies"], row
            assert ("" if probe.dtw is None else str(probe.dtw)) == row["dtw_plies"], row
    assert checked > 50  # all of two pieces, and larger ones that captures take down to two


@pytest.mark.parametrize("which", ["two", "one_ply"])
def test_captures_are_resolved_with_more_pieces_than_tables(
    which: str,
    request: pytest.FixtureRequest,
    solved2: dict[Position, Solved],
    hasty: dict[Position, Solved],
) -> None:
    """Positions of more pieces than the tables, where captures lead into them."""
    opened: Tablebase = request.getfixturevalue(which)
    values = solved2 if which == "two" else hasty

    def by_hand(position: Position) -> Solved | None:
        if (known := values.get(naive.white_to_move(position))) is not None:
            return known
        moves = legal_moves(position)
        if moves and not moves[0].is_capture:
            return None
        after = [by_hand(position_after(position, move)) for move in moves]
        if not moves:
            return Solved(-2, 0, 0)
        known = [value for value in after if value is not None]
        if len(known) < len(after):
            return None
        wdl = max(-value.wdl for value in known)
        lengths = [value.dtw + 1 for value in known if value.dtw is not None and -value.wdl * wdl > 0]
        dtw = min(lengths) if wdl > 0 else max(lengths) if wdl < 0 else None
        return Solved(wdl, 1 if abs(wdl) == 2 else None, dtw)

    seen = set()
    for position in random_positions(6000, seed=5, max_pieces=5):
        expected = by_hand(position)
        if expected is not None and position.pieces > 2:
            assert opened.probe(position) == as_probe(expected, position, balance=which == "two")
            seen.add((position.pieces, expected.wdl))
        elif expected is None:
            assert opened.get_probe(position) == UNKNOWN
    assert {(3, -2), (3, 0), (3, 2), (4, 2)} <= seen
    assert ((3, 1) in seen) == (which == "one_ply")


def test_dtw_of_a_win_may_come_from_a_cursed_win() -> None:
    # Too rare among few pieces to be met with in tables.
    lost, blessed = Probe(Outcome.LOSS, 3, 20), Probe(Outcome.BLESSED_LOSS, None, 6)
    won, cursed = Probe(Outcome.WIN, 4, 31), Probe(Outcome.CURSED_WIN, None, 41)
    with Tablebase() as opened:

        def best(after: list[Probe]) -> Probe:
            return opened._values._best_capture(after, False)

        assert best([lost, blessed, Probe(Outcome.DRAW), won]) == Probe(Outcome.WIN, 1, 7)
        assert best([blessed, cursed]) == Probe(Outcome.CURSED_WIN, None, 7)
        assert best([won, Probe(Outcome.DRAW)]) == Probe(Outcome.DRAW)
        assert best([won, cursed]) == Probe(Outcome.BLESSED_LOSS, None, 42)
        assert best([won, Probe(Outcome.WIN, 1, 51)]) == Probe(Outcome.LOSS, 1, 52)
        assert best([lost, Probe(Outcome.LOSS, 1, None)]) == Probe(Outcome.WIN, 1, None)
        # A capture changes the balance, where that is counted and the outcome is no draw.
        assert opened._values._best_capture([lost], True) == Probe(Outcome.WIN, 1, 21, 1)
        assert opened._values._best_capture([won], True) == Probe(Outcome.LOSS, 1, 32, 1)
        assert opened._values._best_capture([cursed], True) == Probe(Outcome.BLESSED_LOSS, None, 42)


def test_games_that_are_over_need_no_table(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as empty:
        assert empty.pieces == 0
        for fen in ("W:W:BKh8", "B:Wa1,c1:B", "W:Wa3:Bb4,c5", "W:W:B"):
            position = Position.from_fen(fen)
            assert empty.probe(position) == LOST
            assert (empty.probe_wdl(position), empty.moves(position)) == (-2, [])
            assert empty.best_move(position) is None
        for fen in ("W:Wa1,Kc3:B", "B:W:Ba7"):
            position = Position.from_fen(fen)
            assert empty.probe(position) == Probe(Outcome.WIN, 1, 1, 1)
            assert empty.moves(position)[0].outcome is Outcome.WIN
        # The last piece is captured: nothing is left to look up.
        assert empty.probe(Position.from_fen("W:WKa1:Bb2")) == Probe(Outcome.WIN, 1, 1)
        assert empty.probe(Position.from_fen("W:WKa1:BKb2")) == Probe(Outcome.WIN, 1, 1, 1)


# Moves


@pytest.mark.parametrize("which", ["two", "one_ply"])
def test_best_move_has_the_value_of_the_position(
    which: str, request: pytest.FixtureRequest, solved2: dict[Position, Solved], hasty: dict[Position, Solved]
) -> None:
    opened: Tablebase = request.getfixturevalue(which)
    for position, value in (solved2 if which == "two" else hasty).items():
        moves = opened.moves(position)
        assert {move.move for move in moves} == set(position.legal_moves())
        if not moves:
            continue
        best = moves[0]
        assert (best.wdl, best.dtc) == value[:2]
        counted = which == "two" and position.wk and position.bk
        assert best.dtb == (value.dtc if counted else None)
        lengths = [move.dtw for move in moves if move.dtw is not None and (move.wdl or 0) * value.wdl > 0]
        if value.wdl:
            assert value.dtw == (min if value.wdl > 0 else max)(lengths)
        assert opened.best_move(position) == best.move
        for move in moves:
            assert move.after == position.play(move.move)
            assert move.probe_after == opened.probe(move.after)
            if move.outcome in (Outcome.WIN, Outcome.LOSS):
                zeroes = move.move.zeroing or move.probe_after.dtc == 0
                assert move.dtc == (1 if zeroes else 1 + (move.probe_after.dtc or 0))
                assert move.dtc <= (opened.ruleset.king_moves_plies or 0)
        keys = [move_order(move.probe, str(move.move)) for move in moves]
        assert all(a < b for a, b in pairwise(keys))


def test_king_move_a_ply_too_late_is_a_cursed_win(one_ply: Tablebase) -> None:
    aged = 0
    for position in naive.placements(0, 1, 1, 0):
        for move in one_ply.moves(position):
            if move.probe_after.outcome is Outcome.LOSS and move.outcome is Outcome.CURSED_WIN:
                assert move.probe_after.dtc == 1
                assert move.dtc is None
                assert not move.move.zeroing
                aged += 1
    assert aged


def test_moves_without_a_table_are_last_and_unknown(two: Tablebase) -> None:
    position = Position.from_fen(THREE_QUIET)
    moves = two.moves(position)
    assert len(moves) == len(position.legal_moves())
    known = [move for move in moves if move.outcome is not Outcome.UNKNOWN]
    unknown = moves[len(known) :]
    assert known
    assert unknown
    assert all(move.probe_after == UNKNOWN and move.outcome is Outcome.UNKNOWN for move in unknown)
    assert [str(move.move) for move in unknown] == sorted(str(move.move) for move in unknown)
    with pytest.raises(MissingTableError, match=r"KvKK\.wdl"):
        two.best_move(position)
    assert two.missing_table(known[0].after) is None
    assert "KvKK.wdl" in str(two.missing_table(unknown[0].after))
    line = best_line(two, position)
    assert (line.end, line.moves, line.positions) == (LineEnd.UNKNOWN, (), (position,))
    assert THREE_QUIET in line.reason
    assert "KvKK.wdl" in str(line.missing)


def test_known_win_is_best_beside_unknown_moves(two: Tablebase) -> None:
    for position in random_positions(3000, seed=7, max_pieces=3):
        moves = two.moves(position)
        if moves and moves[0].outcome is Outcome.WIN and moves[-1].outcome is Outcome.UNKNOWN:
            assert two.best_move(position) == moves[0].move
            assert best_line(two, position).end is LineEnd.GAME_OVER
            return
    raise AssertionError("no position among so many has a known win beside a move that is not known")


# Lines


def best_line(tablebase: Tablebase, position: Position, limit: int = 500) -> Line:
    """Best play from fresh counters under the rules of the tables."""
    return RuleSearch(tablebase).line(Clock.start(position, tablebase.ruleset), limit)


def test_lines_end_with_the_outcome_of_the_tables(two: Tablebase, solved2: dict[Position, Solved]) -> None:
    for position in Random(3).sample(sorted(solved2, key=Position.to_fen), 600):
        value = solved2[position]
        line = best_line(two, position)
        assert len(line.positions) == len(line.moves) + 1
        for before, move, after in zip(line.positions, line.moves, line.positions[1:], strict=False):
            assert before.play(move.move) == after
        if value.wdl == 0:
            assert (line.end, line.moves, line.winner) == (LineEnd.DRAW, (), None)
            continue
        assert line.end is LineEnd.GAME_OVER
        assert line.winner == (position.turn if value.wdl > 0 else position.turn.other)
        assert not line.positions[-1].legal_moves()
        assert len(line.moves) % 2 == (value.wdl > 0)


@pytest.mark.parametrize("limit", [1, 2])
def test_cursed_win_is_played_until_the_rule_draws(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruleset = Ruleset(f"{limit}-plies", limit)
    monkeypatch.setitem(RULESETS, ruleset.name, ruleset)
    values = naive.solve(2, limit=limit)
    write_solved(tmp_path, values, 2, ruleset=ruleset)
    late = 0
    with Tablebase(ruleset=ruleset) as opened:
        opened.add_directory(tmp_path)
        # The rule is about positions with kings on both sides. Only so low a limit curses others in tables.
        cursed = [p for p, value in values.items() if value.wdl in (1, -1) and p.wk and p.bk]
        for position in Random(limit).sample(cursed, min(len(cursed), 200)):
            line = best_line(opened, position)
            assert (line.end, line.winner) == (LineEnd.DRAW, None)
            assert [str(state.rule) for state in line.fired] == ["king-moves"]
            assert longest_king_run(line) == limit
            assert not any(move.move.zeroing for move in line.moves[-limit:])
            assert line.reason.startswith("A draw by the rules: king-moves, ")
            late += opened.moves(line.positions[-1])[0].move.zeroing
        assert late  # a zeroing move, one ply later than it would have to come
        # The last ply that the rule allows is played, and may end or zero what then is won.
        won = [position for position, value in values.items() if value.dtc == limit]
        for position in Random(limit).sample(won, 200):
            line = best_line(opened, position)
            assert (line.end, line.fired) == (LineEnd.GAME_OVER, ())
            assert line.winner == (position.turn if values[position].wdl > 0 else position.turn.other)
            assert longest_king_run(line) <= limit
        mated = [position for position in won if longest_king_run(best_line(opened, position)) == limit]
        assert bool(mated) == (
            limit == 1
        )  # a king's move as the last ply may end the game: a winner's, an odd one


def longest_king_run(line: Line) -> int:
    """The most plies in a row by kings only and without a capture."""
    runs = "".join("z" if move.move.zeroing else "k" for move in line.moves).split("z")
    return max(map(len, runs))


def test_line_stops_at_its_limit(two: Tablebase, solved2: dict[Position, Solved]) -> None:
    position = max(solved2, key=lambda position: solved2[position].dtw or 0)
    whole = best_line(two, position)
    assert len(whole.moves) > 5
    assert "wins" in whole.reason
    for limit in (0, 1, 5):
        line = best_line(two, position, limit)
        assert (line.end, len(line.moves), line.winner) == (LineEnd.LIMIT, limit, None)
        assert line.moves == whole.moves[:limit]
        assert f"limit of {limit} plies" in line.reason
    assert best_line(two, position, len(whole.moves)) == whole
    with pytest.raises(ArgumentError, match="not -1"):
        best_line(two, position, -1)
