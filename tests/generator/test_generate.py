"""`shashki generate`: plans, what it says, and that the way to a set of tables does not change it."""

import os
import pty
import re
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest
from generating import PROGRAM, contents, finish, same, start

from generator import run as run_module
from generator.errors import PlanError
from generator.machine import available_disk, available_memory, format_bytes
from generator.materials import RunScope, depends_on, pairs, successor_pairs, with_mirror
from generator.plan import Plan, plan
from generator.run import check_plan, generate, make_plan
from tablebase.board.material import Material
from tablebase.cli.main import main
from tablebase.probe.tablebase import open_tablebase
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

Capture = pytest.CaptureFixture[str]
ALL = tuple(Metric)
OTHERS = {Metric.WDL, Metric.DTC, Metric.DTW}  # what every slice has


def bad_use(*argv: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(argv)
    return int(end.value.code or 0)


# The way to a set of tables does not change it


@pytest.mark.parametrize("jobs", [2, 7])
def test_the_number_of_threads_changes_nothing(jobs: int, tables3: Path, tmp_path: Path) -> None:
    generate(tmp_path, 3, jobs=jobs)
    assert same(tmp_path, tables3)


@pytest.mark.whole
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_number_of_threads_changes_nothing_at_5_pieces(jobs: int, tables5: Path, tmp_path: Path) -> None:
    generate(tmp_path, 5, jobs=jobs)
    assert same(tmp_path, tables5)


def test_piece_by_piece_is_as_good_as_at_once(tables3: Path, tables4: Path, tmp_path: Path) -> None:
    for pieces in (2, 3):
        generate(tmp_path, pieces)
    assert same(tmp_path, tables3)
    generate(tmp_path, 4, jobs=3)
    assert same(tmp_path, tables4)


def test_fewer_pieces_again_change_nothing(tables3: Path, tmp_path: Path) -> None:
    generate(tmp_path, 3)
    before = contents(tmp_path)
    assert not generate(tmp_path, 2).plan.todo
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "steps",
    [
        [(3, (Metric.WDL,)), (3, ALL)],
        [(2, (Metric.DTC,)), (3, (Metric.WDL, Metric.DTW)), (3, ALL)],
        [(2, ALL), (3, (Metric.WDL,)), (3, (Metric.DTW,)), (3, (Metric.DTC,)), (2, ALL), (3, (Metric.DTB,))],
        [(3, (Metric.DTB,)), (3, (Metric.DTC, Metric.DTW))],
        [(3, (Metric.WDL, Metric.DTC, Metric.DTW)), (3, ALL)],
    ],
)
def test_metric_by_metric_is_as_good_as_at_once(
    steps: list[tuple[int, tuple[Metric, ...]]], tables3: Path, tmp_path: Path
) -> None:
    for pieces, metrics in steps:
        summary = generate(tmp_path, pieces, metrics, jobs=2)
        wanted = {Metric.WDL, *metrics}
        if pieces == 2:
            wanted.discard(Metric.DTB)  # nothing counts the balance apart from king moves there
        assert set(summary.plan.metrics) == wanted
        for pair in pairs(pieces):
            for material in with_mirror(pair):
                there = {metric for metric in Metric if (tmp_path / f"{material}.{metric}").exists()}
                assert (wanted if dtb_fits(material) else wanted - {Metric.DTB}) <= there
                assert dtb_fits(material) or Metric.DTB not in there
    assert same(tmp_path, tables3)


def test_only_the_metrics_asked_for_are_written(tmp_path: Path, capsys: Capture) -> None:
    assert main(["generate", "--data", str(tmp_path), "--pieces", "2", "--metrics", "DTW"]) == 0
    out = capsys.readouterr().out
    assert {path.suffix for path in tmp_path.glob("*v*")} == {".wdl", ".dtw"}
    assert "dtc" not in out
    with open_tablebase(tmp_path) as tables:
        assert tables.pieces == 2
    assert main(["verify", "--data", str(tmp_path)]) == 0


def dtb_fits(material: Material) -> bool:
    """Whether a slice of up to 7 pieces has a `.dtb` table under the official rules."""
    return bool(material.own_kings and material.other_kings and material.men)


@pytest.mark.parametrize("ruleset", ["official", "king-moves-only"])
def test_headers_and_manifest_say_what_they_are(ruleset: str, request: pytest.FixtureRequest) -> None:
    directory: Path = request.getfixturevalue("tables4" if ruleset == "official" else "kings4")
    manifest = Manifest.load(directory)
    assert manifest.ruleset.name == ruleset
    assert manifest.ruleset.king_moves_plies == 30
    for material, record in manifest.slices.items():
        metrics = set(Metric) if ruleset == "official" and dtb_fits(material) else OTHERS
        assert set(record.files) == metrics
        assert record.statistics is not None
        assert (record.statistics.longest_dtb_win_plies is not None) <= (Metric.DTB in metrics)
        for metric in metrics:
            with Table(directory / f"{material}.{metric}") as table:
                header = table.header
            assert (header.material, header.metric) == (material, metric)
            assert header.ruleset == manifest.ruleset
            assert header.positions == material.positions
    assert len(manifest.slices) == len(list(directory.glob("*.dtc"))) == 41
    assert len(list(directory.glob("*.dtb"))) == (9 if ruleset == "official" else 0)


# What it says


def test_a_run_from_the_command_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHASHKI_DATA", str(tmp_path / "here" / "new"))
    assert main(["generate", "--pieces", "2", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(
        r"solved 4 materials, 3,488 positions, in [\d.]+ s \([\d,]+ a second\); "
        rf"tables in {tmp_path}/here/new: "
        r"wdl \d+ bytes, dtc \d+ bytes, dtw [\d.]+ (bytes|KB)\n",
        out,
    ), out
    assert main(["generate", "--pieces", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"nothing to do: all materials of 2 to 2 pieces are in {tmp_path}/here/new (wdl ")


def test_quiet_when_not_a_terminal(tables4: Path, tmp_path: Path) -> None:
    status, out, err = finish(start(tmp_path, 3))
    assert (status, err) == (0, "")
    assert out.startswith("solved 16 materials, 199,520 positions")
    assert out.count("\n") == 1
    assert "\r" not in out


def test_a_bar_in_a_terminal(tables4: Path, tmp_path: Path) -> None:
    terminal, other_end = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 150))
    shown = bytearray()

    def read() -> None:
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # so a terminal ends
                return
            if not part:
                return
            shown.extend(part)

    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "generate", "--data", str(tmp_path), "--pieces", "4"],
        stdout=subprocess.PIPE,
        stderr=other_end,
        text=True,
    )
    reader = threading.Thread(target=read)
    reader.start()
    os.close(other_end)
    out, _ = process.communicate(timeout=300)
    reader.join()
    os.close(terminal)
    assert process.returncode == 0
    assert out.startswith("solved 41 materials")
    text = shown.decode()
    assert "solving K" in text
    assert re.search(r"\d+%\|", text), text
    assert "/6.41M" in text  # positions done of all
    assert re.search(r"\d+/\d+ pairs of materials", text)
    assert re.search(r"\d\d:\d\d<\d\d:\d\d", text)  # time taken, time left
    assert "positions/s" in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--pieces", "1"], "'1' is not a number of pieces: 2 or more"),
        (["--pieces", "many"], "'many' is not a number of pieces"),
        (["--pieces", "-3"], "'-3' is not a number of pieces"),
        (["--pieces", "9" * 5000], "is not a number of pieces"),
        (["--jobs", "0"], "'0' is not a number of threads: 1 or more"),
        (["--metrics", "wdl,dtz"], "dtz is not a metric: name one or more of wdl,dtc,dtw,dtb"),
        (["--metrics", ","], "nothing is not a metric"),
        (["--peices", "3"], "unrecognized arguments"),
    ],
)
def test_bad_use(options: list[str], says: str, tmp_path: Path, capsys: Capture) -> None:
    assert bad_use("generate", "--data", str(tmp_path / "data"), *options) == 2
    answer = capsys.readouterr()
    assert says in answer.err
    assert answer.out == ""
    assert not (tmp_path / "data").exists()


# The plan


def test_dry_run_prints_the_plan_and_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    directory = tmp_path / "deep" / "data"
    assert main(["generate", "--data", str(directory), "--pieces", "4", "--dry-run"]) == 0
    answer = capsys.readouterr()
    assert answer.err == ""
    lines = answer.out.splitlines()
    listed = [line for line in lines if line.endswith(" positions")]
    counts = {line.split("  ")[0]: int(line.split()[-2].replace(",", "")) for line in listed}
    assert len(counts) == len(pairs(4))
    assert counts["KvK"] == 992
    assert counts["KKMvK and KvKKM"] == 2 * Material.parse("KKMvK").positions
    assert sum(counts.values()) == 6_408_836
    assert lines[len(listed) :][:3] == [
        "materials  41 to solve, of all materials of 2 to 4 pieces",
        "positions  6,408,836",
        "metrics    wdl,dtc,dtw,dtb",
    ]
    assert re.match(r"memory     about [\d.]+ [MG]B, of [\d.]+ [MGT]B available", lines[-2])
    assert re.match(rf"disk       about [\d.]+ MB, of [\d.]+ [MGT]B free in {directory}", lines[-1])
    assert list(tmp_path.iterdir()) == []


def test_dry_run_shows_what_is_left_to_do(tmp_path: Path, capsys: Capture) -> None:
    generate(tmp_path, 2)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    command = ["generate", "--data", str(tmp_path), "--dry-run"]
    assert main([*command, "--pieces", "2"]) == 0
    assert "materials  0 to solve" in capsys.readouterr().out
    assert main([*command, "--pieces", "3", "--metrics", "wdl"]) == 0
    out = capsys.readouterr().out
    assert "materials  12 to solve" in out
    assert "positions  196,032" in out
    assert "metrics    wdl\n" in out
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_what_does_not_fit_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    # With less than all would take, arrays are mapped: what cannot be is the limit.
    room = (plan(RunScope(4), ALL, 2, set()).memory + plan(RunScope(5), ALL, 2, set()).least_memory) // 2
    for module in ("generator.run", "generator.machine"):  # the dry run asks for itself
        monkeypatch.setattr(f"{module}.available_memory", lambda: room)
    command = ["generate", "--data", str(tmp_path), "--jobs", "2"]
    for options in (["--pieces", "5"], ["--pieces", "5", "--dry-run"]):
        assert main([*command, *options]) == 1
        err = capsys.readouterr().err
        assert re.search(
            r"of 2 to 5 pieces need about [\d.]+ [MG]B of memory \(available: [\d.]+ [MG]B\); "
            "`--pieces 4` would fit",
            err,
        ), err
        assert "disk" not in err
        assert not list(tmp_path.iterdir())
    assert main([*command, "--pieces", "4", "--dry-run"]) == 0
    # What would fit does, and what just does not is refused: the limit is where the message says.
    with pytest.raises(PlanError):
        generate(tmp_path, 3, memory=plan(RunScope(3), ALL, 1, set()).least_memory - 1)
    generate(tmp_path, 2, memory=plan(RunScope(2), ALL, 1, set()).memory)


def test_what_does_not_fit_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(run_module, "available_disk", lambda directory: plan(RunScope(3), ALL, 1, set()).disk)
    assert main(["generate", "--data", str(tmp_path), "--pieces", "5"]) == 1
    err = capsys.readouterr().err
    assert re.search(r"of 2 to 5 pieces need about [\d.]+ MB of disk \(available: [\d.]+ [KM]B\)", err), err
    assert "`--pieces 3` would fit" in err
    assert "memory" not in err
    monkeypatch.setattr(run_module, "available_disk", lambda directory: 100)
    assert main(["generate", "--data", str(tmp_path), "--pieces", "2"]) == 1
    assert "not even 2 pieces would fit" in capsys.readouterr().err


def test_far_too_many_pieces_are_refused_at_once(tmp_path: Path, capsys: Capture) -> None:
    command = ["generate", "--data", str(tmp_path / "data"), "--pieces"]
    for pieces in ("9", "999999999"):
        assert main([*command, pieces]) == 2
        err = capsys.readouterr().err
        assert f"makes tables of up to 8 pieces, and {pieces} were asked for" in err
        assert "--dry-run plans up to 12" in err
    assert main([*command, "12", "--dry-run"]) == 1
    answer = capsys.readouterr()
    assert "of 2 to 12 pieces" in answer.out
    assert re.search(r"of 2 to 12 pieces need about .* would fit", answer.err)
    assert main([*command, "13", "--dry-run"]) == 2
    assert not (tmp_path / "data").exists()


def test_room_does_not_make_more_pieces_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "available_disk", lambda directory: 1 << 80)
    with pytest.raises(PlanError, match="makes tables of up to 8 pieces"):
        generate(tmp_path / "data", 9, memory=1 << 80)
    assert not (tmp_path / "data").exists()


def test_a_plan_takes_what_it_depends_on(tmp_path: Path) -> None:
    every = pairs(5)
    for pair in every:
        needed = depends_on([pair])
        assert pair not in needed
        assert (
            set().union(successor_pairs(pair), *(successor_pairs(other) for other in needed)) - {pair}
            == needed
        )
    # With all of 2-4 pieces solved, 5 pieces need only those they lead to, and each before its use.
    work = plan(RunScope(5), ALL, 1, set(pairs(4)))
    order = [*work.known, *work.todo]
    assert list(work.todo) == [pair for pair in every if pair.pieces == 5]
    for number, pair in enumerate(order):
        assert successor_pairs(pair) <= set(order[:number])
    # One that is lost in the middle is solved with what it needs, and nothing else.
    lost = Material.parse("KMvM")
    work = plan(RunScope(4), ALL, 1, set(pairs(4)) - {lost})
    assert list(work.todo) == [lost]
    assert set(work.known) == depends_on([lost])
    assert not plan(RunScope(5), ALL, 1, set(every)).todo


def test_the_estimates_hold(tables5: Path) -> None:
    for pieces in (2, 3, 4, 5):
        sizes = {
            metric: sum(
                (tables5 / f"{material}.{metric}").stat().st_size
                for pair in pairs(pieces)
                for material in with_mirror(pair)
                if metric is not Metric.DTB or dtb_fits(material)
            )
            for metric in Metric
        }
        for metrics in (ALL, (Metric.WDL,), (Metric.DTC,), (Metric.DTW,), (Metric.DTB,)):
            need = sum(sizes[metric] for metric in metrics)
            assert need <= plan(RunScope(pieces), metrics, 2, set()).disk
    assert plan(RunScope(5), ALL, 2, set()).disk < 2 * sum(sizes.values())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_the_memory_estimate_holds(tables4: Path, tmp_path: Path) -> None:
    measure = (
        "import atexit; from pathlib import Path\n"
        "atexit.register(lambda: print(Path('/proc/self/status').read_text()))"
    )
    _, out, _ = finish(start(tmp_path, 4, before=measure))
    most = re.search(r"VmHWM:\s+(\d+) kB", out)
    assert most is not None
    assert int(most[1]) << 10 <= plan(RunScope(4), ALL, 2, set()).memory


def test_available_room(tmp_path: Path) -> None:
    assert 0 < available_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available_disk(tmp_path) > 0
    assert available_disk(tmp_path / "not" / "there") == pytest.approx(available_disk(tmp_path), rel=0.1)
    work = make_plan(tmp_path, RunScope(2), ALL, 1)
    check_plan(tmp_path, work)
    assert isinstance(work, Plan)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 KB"),
        (123_456, "123 KB"),
        (5.6e9, "5.6 GB"),
        (7e12, "7 TB"),
    ],
)
def test_sizes_for_people(size: float, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.whole
def test_5_pieces_from_nothing_are_those_made_in_two_runs(tables5: Path, tmp_path: Path) -> None:
    generate(tmp_path, 5, jobs=3)
    assert same(tmp_path, tables5)
