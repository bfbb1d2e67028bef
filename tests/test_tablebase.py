import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random

import naive
import pytest
from naive import Solved
from strategies import random_positions
from tablefiles import reseal, write_solved

import tablebase.drawrules
from tablebase import (
    ClosedError,
    DamagedFrameError,
    DamagedHeaderError,
    DataDirectoryError,
    Line,
    LineEnd,
    Material,
    Metric,
    MissingTableError,
    NotATableError,
    Outcome,
    Position,
    Probe,
    Ruleset,
    Tablebase,
    TooManyPiecesError,
    TruncatedTableError,
    WrongVersionError,
    open_tablebase,
)
from tablebase.outcome import LOST, UNKNOWN, move_order
from tablebase.rules import legal_moves, position_after

POSITIONS = Path(__file__).parent / "golden" / "positions.csv"
THREE_QUIET = "W:WKa1,Ka3:BKh2"
ONE_PLY = Ruleset("one-ply", 1)


@pytest.fixture(scope="module")
def solved() -> dict[Position, Solved]:
    return naive.solve(2)


@pytest.fixture(scope="module")
def directory(solved: dict[Position, Solved], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two-pieces")
    write_solved(folder, solved, 2)
    return folder


@pytest.fixture
def two(directory: Path) -> Iterator[Tablebase]:
    with open_tablebase(directory) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty() -> dict[Position, Solved]:
    """Two pieces under a rule so short that it makes cursed wins even here."""
    return naive.solve(2, limit=1)


@pytest.fixture
def one_ply(
    hasty: dict[Position, Solved], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Tablebase]:
    monkeypatch.setitem(tablebase.drawrules.RULESETS, ONE_PLY.name, ONE_PLY)
    write_solved(tmp_path, hasty, 2, ruleset=ONE_PLY)
    with Tablebase(ruleset=ONE_PLY) as opened:
        opened.add_directory(tmp_path)
        yield opened


def as_probe(value: Solved) -> Probe:
    return Probe(Outcome.from_wdl(value.wdl), value.dtc, value.dtw)


# Values


def test_every_position_of_two_pieces(two: Tablebase, solved: dict[Position, Solved]) -> None:
    assert len(solved) > 3488
    for position, value in solved.items():
        for seen in (position, position.flip()):
            assert two.probe(seen) == as_probe(value)
        assert (two.probe_wdl(position), two.probe_dtc(position), two.probe_dtw(position)) == value
        assert (two.get_wdl(position), two.get_dtc(position), two.get_dtw(position)) == value


def test_cursed_wins_and_blessed_losses(one_ply: Tablebase, hasty: dict[Position, Solved]) -> None:
    assert {value.wdl for value in hasty.values()} == {-2, -1, 0, 1, 2}
    for position, value in hasty.items():
        assert one_ply.probe(position) == as_probe(value)


def test_positions_from_outside(two: Tablebase) -> None:
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
def test_captures_are_resolved_above_the_tables_own_size(
    which: str,
    request: pytest.FixtureRequest,
    solved: dict[Position, Solved],
    hasty: dict[Position, Solved],
) -> None:
    """Positions of more pieces than the tables, where captures lead into them."""
    opened: Tablebase = request.getfixturevalue(which)
    values = solved if which == "two" else hasty

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
            assert opened.probe(position) == as_probe(expected)
            seen.add((position.pieces, expected.wdl))
        elif expected is None:
            assert opened.get_probe(position) == UNKNOWN
    assert {(3, -2), (3, 0), (3, 2), (4, 2)} <= seen
    assert ((3, 1) in seen) == (which == "one_ply")


def test_the_shortest_win_on_the_board_may_be_a_cursed_one() -> None:
    # Too rare among few pieces to be met with in tables.
    lost, blessed = Probe(Outcome.LOSS, 3, 20), Probe(Outcome.BLESSED_LOSS, None, 6)
    won, cursed = Probe(Outcome.WIN, 4, 31), Probe(Outcome.CURSED_WIN, None, 41)
    with Tablebase() as opened:
        best = opened._best_capture
        assert best([lost, blessed, Probe(Outcome.DRAW), won]) == Probe(Outcome.WIN, 1, 7)
        assert best([blessed, cursed]) == Probe(Outcome.CURSED_WIN, None, 7)
        assert best([won, Probe(Outcome.DRAW)]) == Probe(Outcome.DRAW)
        assert best([won, cursed]) == Probe(Outcome.BLESSED_LOSS, None, 42)
        assert best([won, Probe(Outcome.WIN, 1, 51)]) == Probe(Outcome.LOSS, 1, 52)
        assert best([lost, Probe(Outcome.LOSS, 1, None)]) == Probe(Outcome.WIN, 1, None)


def test_no_tables_needed_where_the_game_is_over(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as empty:
        assert empty.pieces == 0
        for fen in ("W:W:BKh8", "B:Wa1,c1:B", "W:Wa3:Bb4,c5", "W:W:B"):
            position = Position.from_fen(fen)
            assert empty.probe(position) == LOST
            assert (empty.probe_wdl(position), empty.moves(position)) == (-2, [])
            assert empty.best_move(position) is None
        for fen in ("W:Wa1,Kc3:B", "B:W:Ba7"):
            position = Position.from_fen(fen)
            assert empty.probe(position) == Probe(Outcome.WIN, 1, 1)
            assert empty.moves(position)[0].outcome is Outcome.WIN
        # The last piece is captured: nothing is left to look up.
        assert empty.probe(Position.from_fen("W:WKa1:Bb2")) == Probe(Outcome.WIN, 1, 1)


# Moves


@pytest.mark.parametrize("which", ["two", "one_ply"])
def test_the_best_move_is_worth_what_the_position_is(
    which: str, request: pytest.FixtureRequest, solved: dict[Position, Solved], hasty: dict[Position, Solved]
) -> None:
    opened: Tablebase = request.getfixturevalue(which)
    for position, value in (solved if which == "two" else hasty).items():
        moves = opened.moves(position)
        assert {move.move for move in moves} == set(position.legal_moves())
        if not moves:
            continue
        best = moves[0]
        assert (best.wdl, best.dtc) == value[:2]
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
        keys = [move_order(Probe(move.outcome, move.dtc, move.dtw), str(move.move)) for move in moves]
        assert all(a < b for a, b in pairwise(keys))


def test_a_king_move_that_comes_a_ply_too_late_is_aged(one_ply: Tablebase) -> None:
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
    line = two.line(position)
    assert (line.end, line.moves, line.positions) == (LineEnd.UNKNOWN, (), (position,))
    assert THREE_QUIET in line.reason


def test_a_win_is_best_whatever_is_unknown(two: Tablebase) -> None:
    for position in random_positions(3000, seed=7, max_pieces=3):
        moves = two.moves(position)
        if moves and moves[0].outcome is Outcome.WIN and moves[-1].outcome is Outcome.UNKNOWN:
            assert two.best_move(position) == moves[0].move
            assert two.line(position).end is LineEnd.GAME_OVER
            return
    raise AssertionError("no position among so many has a known win beside a move that is not known")


# Lines


def test_lines_end_as_the_tables_say(two: Tablebase, solved: dict[Position, Solved]) -> None:
    for position in Random(3).sample(sorted(solved, key=Position.to_fen), 600):
        value = solved[position]
        line = two.line(position)
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
def test_cursed_wins_are_played_as_far_as_the_rule_allows(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruleset = Ruleset(f"{limit}-plies", limit)
    monkeypatch.setitem(tablebase.drawrules.RULESETS, ruleset.name, ruleset)
    values = naive.solve(2, limit=limit)
    write_solved(tmp_path, values, 2, ruleset=ruleset)
    late = 0
    with Tablebase(ruleset=ruleset) as opened:
        opened.add_directory(tmp_path)
        cursed = [position for position, value in values.items() if value.wdl in (1, -1)]
        for position in Random(limit).sample(cursed, min(len(cursed), 200)):
            line = opened.line(position)
            assert (line.end, line.winner, line.counted_out) == (LineEnd.DRAW, None, True)
            assert longest_king_run(line) == limit
            assert not any(move.move.zeroing for move in line.moves[-limit:])
            assert line.reason.startswith("The 15-king-moves rule makes it a draw: ")
            late += opened.moves(line.positions[-1])[0].move.zeroing
        assert late  # a zeroing move, one ply later than it would have to come
        # The last ply that the rule allows is played, and may end or zero what then is won.
        won = [position for position, value in values.items() if value.dtc == limit]
        for position in Random(limit).sample(won, 200):
            line = opened.line(position)
            assert (line.end, line.counted_out) == (LineEnd.GAME_OVER, False)
            assert line.winner == (position.turn if values[position].wdl > 0 else position.turn.other)
            assert longest_king_run(line) <= limit
        mated = [position for position in won if longest_king_run(opened.line(position)) == limit]
        assert bool(mated) == (
            limit == 1
        )  # a king's move as the last ply may end the game: a winner's, an odd one


def longest_king_run(line: Line) -> int:
    """The most plies in a row by kings only and without a capture."""
    runs = "".join("z" if move.move.zeroing else "k" for move in line.moves).split("z")
    return max(map(len, runs))


def test_a_line_stops_at_its_limit(two: Tablebase, solved: dict[Position, Solved]) -> None:
    position = max(solved, key=lambda position: solved[position].dtw or 0)
    whole = two.line(position)
    assert len(whole.moves) > 5
    assert "wins" in whole.reason
    for limit in (0, 1, 5):
        line = two.line(position, limit)
        assert (line.end, len(line.moves), line.winner) == (LineEnd.LIMIT, limit, None)
        assert line.moves == whole.moves[:limit]
        assert f"limit of {limit} plies" in line.reason
    assert two.line(position, len(whole.moves)) == whole
    with pytest.raises(ValueError, match="not -1"):
        two.line(position, -1)


# What is missing


def test_missing_tables_are_named(two: Tablebase, directory: Path, tmp_path: Path) -> None:
    assert two.pieces == 2
    three = Position.from_fen(THREE_QUIET)
    with pytest.raises(TooManyPiecesError) as caught:
        two.probe_wdl(three)
    assert str(caught.value) == (
        f"KKvK has 3 pieces, and the tables in {directory} hold up to 2: there is no KKvK.wdl; "
        f"make it with `shashki generate --pieces 3 --data {directory}`"
    )
    assert isinstance(caught.value, KeyError)
    start = Position.start()
    with pytest.raises(TooManyPiecesError, match="MMMMMMMMMMMMvMMMMMMMMMMMM has 24 pieces"):
        two.probe(start)
    assert two.get_wdl(start) is two.get_dtc(start) is two.get_dtw(start) is None
    assert two.get_wdl(start, 7) == two.get_dtc(start, 7) == two.get_dtw(start, 7) == 7
    assert two.get_probe(start) == UNKNOWN
    tight = tmp_path / "two words"
    tight.mkdir()
    with open_tablebase(tight) as empty:
        with pytest.raises(MissingTableError) as caught:
            empty.probe_wdl(three)
        assert str(caught.value) == (
            f"there is no table KKvK.wdl in {tight}; "
            f"make it with `shashki generate --pieces 3 --data '{tight}'`"
        )
        empty.add_directory(tmp_path)
        with pytest.raises(MissingTableError, match=rf"in {tight} or {tmp_path}; make it with .* '{tight}'`"):
            empty.probe_wdl(three)
    with Tablebase() as bare, pytest.raises(MissingTableError, match="no directory; add one with add_dir"):
        bare.probe_wdl(three)
    copy(directory, tmp_path, "KvK.wdl", "KvM.wdl", "MvM.wdl")
    with open_tablebase(tmp_path) as some:
        assert some.pieces == 0
        with pytest.raises(
            MissingTableError, match=r"no table MvK\.wdl in .*; make it with `shashki generate"
        ):
            some.probe_wdl(Position.from_fen("W:Wa1:BKh2"))


def test_a_missing_distance_is_no_missing_outcome(
    directory: Path, tmp_path: Path, solved: dict[Position, Solved]
) -> None:
    copy(directory, tmp_path, *(file.name for file in directory.glob("*.wdl")))
    with open_tablebase(tmp_path) as bare:
        assert bare.pieces == 2
        for position, value in list(solved.items())[::7]:
            probe = bare.probe(position)
            assert probe.wdl == value.wdl
            assert probe.dtc in (None, value.dtc)
            assert probe.dtw in (None, value.dtw)
        won = Position.from_fen("W:WKc1:Bh4")
        assert bare.probe(won).outcome is Outcome.WIN
        for ask, name in ((bare.probe_dtc, r"KvM\.dtc"), (bare.probe_dtw, r"KvM\.dtw")):
            with pytest.raises(MissingTableError, match=name):
                ask(won)
        assert bare.get_dtw(won, -1) == -1
        assert bare.moves(won)[0].outcome is Outcome.WIN


def copy(source: Path, target: Path, *names: str) -> None:
    for name in names:
        (target / name).write_bytes((source / name).read_bytes())


# The set


def test_adding_directories(directory: Path, tmp_path: Path) -> None:
    copy(directory, tmp_path, "KvK.wdl", "KvK.dtw")
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "KvK.wdl.123.tmp").write_bytes(b"half a table")
    (tmp_path / "notes.wdl").write_text("not a material")
    with Tablebase() as opened:
        assert opened.add_directory(tmp_path) == 2
        assert opened.pieces == 0
        assert opened.has_table(Material.parse("KvK"))
        assert not opened.has_table(Material.parse("KvK"), Metric.DTC)
        assert opened.add_directory(str(directory)) == 10
        assert opened.add_directory(directory) == 0
        assert opened.pieces == 2
        for wrong in (tmp_path / "nowhere", tmp_path / "KvK.wdl"):
            with pytest.raises(DataDirectoryError, match=f"{wrong.name} is no directory"):
                opened.add_directory(wrong)
        nowhere = tmp_path / "nowhere"
        with pytest.raises(
            DataDirectoryError, match=f"make tables there with `shashki generate --data {nowhere}`"
        ):
            opened.add_directory(nowhere)


def test_what_is_named_like_a_table_but_is_no_file(directory: Path, tmp_path: Path) -> None:
    copy(directory, tmp_path, "KvK.wdl")
    strange = tmp_path / "KvM.wdl"
    says = rf"KvM\.wdl has the name of a table but is {{}}; remove it, .*generate --data {tmp_path}`"
    with Tablebase() as opened:
        strange.mkdir()
        with pytest.raises(NotATableError, match=says.format("a directory")):
            opened.add_directory(tmp_path)
        strange.rmdir()
        strange.symlink_to(tmp_path / "nowhere")
        with pytest.raises(NotATableError, match=says.format("a link that leads nowhere")):
            opened.add_directory(tmp_path)
        strange.unlink()
        os.mkfifo(strange)  # reading from it would wait for ever
        with pytest.raises(NotATableError, match=says.format("no ordinary file")):
            opened.add_directory(tmp_path)
        strange.unlink()
        strange.symlink_to(directory / "KvM.wdl")
        assert opened.add_directory(tmp_path) == 2


@pytest.mark.parametrize(
    ("offset", "new", "message"),
    [(8, b"\0", "older format"), (24, b"king-moves-only", "other draw rules, king-moves-only")],
)
def test_a_set_of_another_version_is_refused(
    directory: Path, tmp_path: Path, offset: int, new: bytes, message: str
) -> None:
    copy(directory, tmp_path, *(file.name for file in directory.iterdir()))
    path = tmp_path / "MvK.dtw"
    data = path.read_bytes()
    path.write_bytes(reseal(data[:offset] + new + data[offset + len(new) :]))
    with pytest.raises(WrongVersionError, match=rf"MvK\.dtw .*{message}.*generate the tables again"):
        open_tablebase(tmp_path)


def test_damaged_tables_are_named_when_they_are_needed(directory: Path, tmp_path: Path) -> None:
    copy(directory, tmp_path, "KvK.wdl", "KvM.wdl", "MvK.wdl")
    data = (directory / "KvK.wdl").read_bytes()
    (tmp_path / "KvK.wdl").write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])
    (tmp_path / "KvM.wdl").write_bytes(data)
    (tmp_path / "MvK.wdl").write_bytes(data[:-2])
    with open_tablebase(tmp_path) as opened:
        for fen, error, message in (
            ("W:WKa1:BKg1", DamagedFrameError, r"KvK\.wdl is damaged: frame 0"),
            ("W:WKa1:Bg3", DamagedHeaderError, r"KvM\.wdl is the table KvK\.wdl under another name"),
            ("W:Wa1:BKg3", TruncatedTableError, r"MvK\.wdl ends too early"),
        ):
            for ask in (opened.probe_wdl, opened.probe, opened.get_wdl, opened.get_probe):
                with pytest.raises(error, match=message):
                    ask(Position.from_fen(fen))


def test_a_table_that_goes_away(directory: Path, tmp_path: Path) -> None:
    copy(directory, tmp_path, "KvK.wdl")
    with open_tablebase(tmp_path) as opened:
        (tmp_path / "KvK.wdl").unlink()
        with pytest.raises(MissingTableError, match=r"KvK\.wdl is gone"):
            opened.probe_wdl(Position.from_fen("W:WKa1:BKg1"))


def test_a_closed_tablebase_says_so(directory: Path) -> None:
    position = Position.from_fen("W:WKa1:BKg1")
    opened = open_tablebase(directory)
    assert opened.probe_wdl(position) == 0
    opened.close()
    opened.close()
    for ask in (opened.probe_wdl, opened.probe, opened.moves):
        with pytest.raises(ClosedError, match="closed; open it again"):
            ask(position)


@pytest.mark.parametrize("cache_bytes", [0, 500, 1 << 20])
def test_many_threads_and_little_memory(
    directory: Path, solved: dict[Position, Solved], cache_bytes: int
) -> None:
    positions = Random(cache_bytes).sample(list(solved), 1500)
    with open_tablebase(directory, cache_bytes=cache_bytes) as opened, ThreadPoolExecutor(8) as pool:
        for position, probe in zip(positions, pool.map(opened.probe, positions), strict=True):
            assert probe == as_probe(solved[position])


def test_probing_needs_neither_numba_nor_flask(directory: Path) -> None:
    code = (
        "import sys; sys.modules.update(numba=None, flask=None, tqdm=None)\n"
        "from tablebase import Position, open_tablebase\n"
        "with open_tablebase(sys.argv[1]) as opened:\n"
        "    print(opened.probe(Position.from_fen('W:WKc1:Bh4')).outcome)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, directory], capture_output=True, text=True, check=True)
    assert done.stdout == "win\n"
