"""The command line, as its user meets it: output, messages and exit statuses."""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

from tablebase import Clock, Position, Probe, Tablebase, open_tablebase
from tablebase.cli import main as cli
from tablebase.cli.main import add_data_option, main
from tablebase.games.analysis import analyse
from tablebase.report.positions import position_report
from tablebase.report.text import position_text

SHASHKI = [sys.executable, "-c", "import sys; from tablebase.cli.main import main; sys.exit(main())"]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tables4: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process, on the tables of up to 4 pieces; gives status, stdout and stderr."""
    monkeypatch.setenv("SHASHKI_DATA", str(tables4))

    def run(*argv: str) -> tuple[int, str, str]:
        try:
            status = main(argv)
        except SystemExit as end:
            status = int(end.code or 0)
        return status, *capsys.readouterr()

    return run


# The frame


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"shashki {version('shashki-tablebase')}\n", "")


def test_help_lists_every_command_and_the_exit_statuses(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    for command in ("probe", "line", "generate", "verify", "stats", "records", "serve"):
        assert re.search(rf"^    {command} +\w", out, re.MULTILINE), command
    assert "exit status: 0" in out
    assert "130" in out


@pytest.mark.parametrize("command", ["probe", "line", "serve"])
def test_each_command_documents_its_exit_statuses(run: Run, command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert "exit status: 0" in out
    assert "--data DIR" in out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "COMMAND"),
        (["prove"], "invalid choice: 'prove'"),
        (["probe"], "FEN"),
        (["probe", "W:WKa1:BKh8", "--jsn"], "--jsn"),
        (["probe", "W:WKa1:BKh8", "--js"], "--js"),  # no guessing from a part of a name
        (["probe", "W:WKa1:BKh8", "--numbering", "h8"], "invalid choice: 'h8'"),
        (["line", "W:WKa1:BKh8", "--limit", "-1"], "'-1' is not a number of plies"),
        (["line", "W:WKa1:BKh8", "--limit", "many"], "'many' is not a number of plies"),
        (["serve", "--port", "65536"], "'65536' is not a port"),
        (["probe", "W:WKa1"], "FEN 'W:WKa1' has no field for black"),
        (["probe", "W:WKa2:BKh8"], "'a2' is a light square"),
        (["line", "W:Wa1,h8:BKe5"], "white man on h8"),
        (["probe", "W:WK1:BK32"], "name the numbering"),
        (["probe", "W:WKa1:BKh8", "--data", ""], "name of the data directory is empty"),
        (["stats", "--data", ""], "name of the data directory is empty"),
    ],
)
def test_bad_use_is_status_2_and_says_what_is_wrong(run: Run, argv: list[str], says: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_a_data_directory_that_is_not_there(run: Run, tmp_path: Path) -> None:
    for command in (["probe", "W:WKa1:BKh8"], ["line", "W:WKa1:BKh8"], ["serve"]):
        status, out, err = run(*command, "--data", str(tmp_path / "nowhere"))
        assert (status, out) == (2, "")
        assert err.startswith(f"shashki: there is no directory {tmp_path / 'nowhere'};")
        assert f"`shashki generate --data {tmp_path / 'nowhere'}`" in err


@dataclass
class Package:
    """An entry point of the group of commands."""

    run: Callable[[argparse.Namespace], int]
    error: ImportError | None = None
    name = "extra"
    value = "extra.commands:add_commands"

    def load(self) -> Callable[..., None]:
        if self.error is not None:
            raise self.error
        return self.add_commands

    def add_commands(self, subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        parser = subparsers.add_parser("work")
        add_data_option(parser)
        parser.set_defaults(run=self.run)


def failing_with(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt(), 130, ""),
        (PermissionError(13, "Permission denied", "/tables"), 1, "shashki: /tables: Permission denied\n"),
        (OSError(28, "No space left on device"), 1, "shashki: No space left on device\n"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, says: str
) -> None:
    monkeypatch.setattr(cli, "entry_points", lambda group: [Package(failing_with(error))])
    assert run("work") == (status, "", says)


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (ZeroDivisionError(), ModuleNotFoundError(name="tablebase.nothing")):
        monkeypatch.setattr(cli, "entry_points", lambda group, error=error: [Package(failing_with(error))])
        with pytest.raises(type(error)):
            main(["work"])


def test_a_package_that_cannot_be_loaded_does_not_break_the_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Package(lambda args: 0, ImportError("no frobs here"))
    monkeypatch.setattr(cli, "entry_points", lambda group: [broken, Package(lambda args: 1)])
    assert run("work")[0] == 1
    status, _, err = run("mend")
    assert status == 2
    assert "(the commands of extra.commands:add_commands are not available: no frobs here)" in err


def test_the_data_directory(run: Run, monkeypatch: pytest.MonkeyPatch, tables4: Path) -> None:
    found: list[Path] = []

    def work(args: argparse.Namespace) -> int:
        found.append(args.data)
        return 0

    monkeypatch.setattr(cli, "entry_points", lambda group: [Package(work)])
    run("work", "--data", "some/where")
    run("work")
    assert found == [Path("some/where"), tables4]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("argv", [["--help"], ["probe", "W:WKa1:BKh8"], ["serve", "--help"]])
def test_commands_do_not_wait_for_what_they_do_not_need(tables4: Path, argv: list[str]) -> None:
    done = python(
        "import os, sys\n"
        f"os.environ['SHASHKI_DATA'] = {str(tables4)!r}\n"
        "from tablebase.cli.main import main\n"
        "try:\n"
        f"    main({argv!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "sys.exit(', '.join({'numba', 'flask', 'tqdm'} & set(sys.modules)))\n"
    )
    assert done.stderr == "\n"
    assert done.stdout


def test_a_package_that_is_not_installed_is_named_with_the_extra_that_brings_it(tables4: Path) -> None:
    done = python(
        "import sys\n"
        "sys.modules['flask'] = None\n"
        "from tablebase.cli.main import main\n"
        f"assert main(['probe', 'W:WKa1:BKh8', '--data', {str(tables4)!r}]) == 0\n"
        f"sys.exit(main(['serve', '--data', {str(tables4)!r}]))\n"
    )
    assert done.returncode == 2
    assert done.stderr == (
        "shashki: `serve` needs the package flask, which is not installed; "
        "pip install 'shashki-tablebase[serve]', or in a checkout: pip install '.[serve]'\n"
    )


def test_a_reader_that_stops_reading_is_no_trouble(tables4: Path) -> None:
    with subprocess.Popen(
        [*SHASHKI, "probe", "W:WKa1,Kc1:BKh8,Kb8", "--data", str(tables4)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


# probe


def test_probe_shows_board_verdict_distances_and_moves(run: Run) -> None:
    status, out, err = run("probe", "W:WKa1,Ke1,c3:BKb8")
    assert (status, err) == (0, "")
    board, sentence, facts, rules, table, legend = out.rstrip("\n").split("\n\n")
    assert board == str(Position.from_fen("W:WKa1,Ke1,c3:BKb8"))
    assert sentence == "White wins in 16 moves."
    assert facts.splitlines() == [
        "fen       W:WKa1,Ke1,c3:BKb8",
        "material  KKMvK (side to move first), 4 pieces",
        "outcome   win, for white",
        "DTC       1 ply = 1 move to the next capture, man's move or end of the game",
        "DTB       14 plies = 7 moves to the next capture, promotion or end of the game",
        "DTW       31 plies = 16 moves to the end of the game, without draw rules",
        "ruleset   official",
    ]
    assert rules.splitlines() == [
        "rule        article  count          remaining",
        "king-moves  7.2.5    0 of 30 plies         30",
        "balance     7.2.6    0 of 60 plies         60",
        "repetition  7.2.3    1 of 3 times           2",
    ]
    assert table.splitlines() == [
        "move   outcome    DTC     DTB      DTW  position after it",
        "c3-d4  win      1 (1)  14 (7)  33 (17)  B:WKa1,Ke1,d4:BKb8",
        "c3-b4  win      1 (1)  15 (8)  31 (16)  B:WKa1,Ke1,b4:BKb8",
        "e1-f2  win      4 (2)  15 (8)  33 (17)  B:WKa1,Kf2,c3:BKb8",
        "e1-d2  win      3 (2)  17 (9)  35 (18)  B:WKa1,Kd2,c3:BKb8",
        "e1-h4  win      3 (2)  17 (9)  35 (18)  B:WKa1,Kh4,c3:BKb8",
        "a1-b2  win      4 (2)  17 (9)  35 (18)  B:WKe1,Kb2,c3:BKb8",
        "e1-g3  draw         -       -        -  B:WKa1,Kg3,c3:BKb8",
    ]
    assert "plies" in legend


def test_probe_json_is_the_report(run: Run, tables4: Path) -> None:
    status, out, _ = run("probe", "W:WKa1,Ke1,c3:BKb8", "--json")
    assert status == 0
    with open_tablebase(tables4) as tablebase:
        assert json.loads(out) == position_report(analyse(tablebase, Clock.from_fen("W:WKa1,Ke1,c3:BKb8")))


@pytest.mark.parametrize(
    ("numbering", "fen"),
    [("a1", "W:WK1,30:BK4"), ("b8", "W:WK29,2:BK32"), ("g1", "W:WK4,31:BK1")],
)
def test_numeric_squares_are_read_in_the_numbering_that_is_named(run: Run, numbering: str, fen: str) -> None:
    status, _, err = run("probe", fen, "--numbering", numbering)
    assert status == 2
    assert "white man on d8" in err
    status, out, _ = run("probe", fen.replace(",", ",K"), "--numbering", numbering, "--json")
    assert status == 0
    assert json.loads(out)["fen"] == "W:WKa1,Kd8:BKg1"


def test_without_a_table_probe_tells_what_is_known_and_which_table_is_missing(
    run: Run, tables4: Path
) -> None:
    # Giving the man leads to four pieces, whose tables are there.
    status, out, err = run("probe", "W:WKa1,e1,c3:BKh8,Kb8")
    assert status == 1
    assert "Not known" in out
    assert re.search(r"^c3-d4 +draw ", out, re.MULTILINE)
    assert re.search(r"^a1-b2 +unknown +- +- ", out, re.MULTILINE)
    assert err.startswith("shashki: ")
    assert "KMMvKK.wdl" in err
    assert f"the tables in {tables4} hold up to 4" in err
    assert f"`shashki generate --pieces 5 --data {tables4}`" in err
    status, out, err = run("probe", "W:WKa1,e1,c3:BKh8,Kb8", "--json")
    report = json.loads(out)
    assert (status, report["outcome"], report["wdl"], report["dtw"]) == (1, "unknown", None, None)
    assert "KMMvKK.wdl" in err


KNOWN_FROM_MOVES = "This is known from its moves: there is no table for the position itself."


@pytest.mark.parametrize(
    ("fen", "sentence"),
    [
        ("W:WKc5,g1,h4,g7:Bc7", "White wins. " + KNOWN_FROM_MOVES),  # by c5-b6; others are not known
        ("B:WKf8,g5,b6,a7:Bh8", "White wins. " + KNOWN_FROM_MOVES),  # all moves lose
        ("W:WKc3,Kf8,b6:BKa1,Kf2", "A draw. " + KNOWN_FROM_MOVES),  # all are known
        ("B:WKb8:BKc1,b2,f2,e5", "Black wins. " + KNOWN_FROM_MOVES),
        ("W:WKa1,e1,c3:BKh8,Kb8", "Not known: there is no table for this position."),
    ],
)
def test_a_position_without_a_table_may_be_known_from_its_moves(run: Run, fen: str, sentence: str) -> None:
    for command in ("probe", "line"):
        _, out, _ = run(command, fen)
        assert " ".join(out.split("\n\n")[1].split()) == sentence, command
    status, out, err = run("probe", fen, "--json")
    assert (status, json.loads(out)["outcome"]) == (1, "unknown")
    assert "shashki generate --pieces 5" in err


def test_probe_asks_for_the_position_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Position] = []
    probe = Tablebase.probe

    def counted(tablebase: Tablebase, position: Position) -> Probe:
        asked.append(position)
        return probe(tablebase, position)

    monkeypatch.setattr(Tablebase, "probe", counted)
    assert run("probe", "W:WKc1,Kd2,Ka3:BKe1")[0] == 0
    assert asked.count(Position.from_fen("W:WKc1,Kd2,Ka3:BKe1")) == 1


def test_a_damaged_table_is_named(run: Run, tables4: Path, tmp_path: Path) -> None:
    for file in tables4.iterdir():
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        (tmp_path / file.name).write_bytes(data)
    status, out, err = run("probe", "W:WKa1,Kc1:BKb8", "--data", str(tmp_path))
    assert (status, out) == (1, "")
    assert err.startswith(f"shashki: {tmp_path}")
    assert "damaged" in err


def test_a_game_that_is_over(run: Run) -> None:
    status, out, _ = run("probe", "B:WKa1:B")
    assert status == 0
    assert "Black has no pieces and has lost." in out
    assert "position after it" not in out


def test_a_narrow_terminal_has_no_place_for_positions(tables4: Path) -> None:
    position = Position.from_fen("W:WKa1,Ke1,c3:BKb8")
    with open_tablebase(tables4) as tablebase:
        analysis = analyse(tablebase, Clock.start(position))
        for width in (45, 57, 58, 80):
            text = position_text(analysis, width)
            assert max(map(len, text.splitlines())) <= width
            # Move 5, outcome 7, DTC 5, DTB 6, DTW 7, position 18, and two blanks between.
            assert ("B:WKa1,Ke1,b4:BKb8" in text) == (width >= 58)


# line


def moves_of(text: str) -> list[str]:
    """The moves of a text with move numbers."""
    return [word for word in text.split() if not re.fullmatch(r"\d+\.+", word)]


def test_line_plays_to_the_end_and_says_so(run: Run) -> None:
    status, out, err = run("line", "W:WKa1,Ke1,c3:BKh8")
    assert (status, err) == (0, "")
    assert "\n\n1. c3-d4 h8:b2 2. a1:c3\n\n" in out
    assert out.rstrip().endswith("Black has no pieces left: White wins.")


def test_a_line_that_black_begins_is_numbered_so(run: Run) -> None:
    status, out, _ = run("line", "B:WKa1,Ke1,c3:BKh8")
    assert status == 0
    assert "\n\n1... h8:b2 2. a1:c3\n\n" in out


def test_a_line_may_be_replayed(run: Run) -> None:
    fen = "W:WKa1,Ke1,c3:BKb8"
    status, out, _ = run("line", fen, "--json")
    report = json.loads(out)
    assert (status, report["fen"], report["outcome"], report["end"]) == (0, fen, "win", "game-over")
    assert report["winner"] == "white"
    position = Position.from_fen(fen)
    for move in report["moves"]:
        legal = {str(legal): legal for legal in position.legal_moves()}
        position = position.play(legal[move["move"]])
        assert move["after"]["fen"] == position.to_fen()
    assert report["last_fen"] == position.to_fen()
    assert not position.legal_moves()
    _, text, _ = run("line", fen)
    assert moves_of(text.split("\n\n")[2]) == [move["move"] for move in report["moves"]]


@pytest.mark.parametrize(
    ("fen", "told", "played"),
    [("W:WKg3,Ke7,b4:Bh2", 2, 4), ("W:WKf2,Kh6,g1:BKf8", 18, 11), ("B:WKd6,a3:Bf8", 3, 5)],
)
def test_a_line_of_another_length_than_the_verdict_says_why(
    run: Run, fen: str, told: int, played: int
) -> None:
    _, out, _ = run("line", fen)
    text = " ".join(out.split())
    assert f"White wins in {told} moves." in text
    assert f"White wins. It has taken {played} moves, where the verdict has {told}: both sides" in text
    assert "(DTB) and for the next capture or man's move (DTC) before" in text
    assert "It has taken" not in run("line", fen, "--limit", "2")[1]


def test_a_line_of_the_length_of_the_verdict_needs_no_reason(run: Run) -> None:
    _, out, _ = run("line", "W:WKc1,Kd2,Ka3:BKe1")
    assert "White wins in 13 moves." in out
    assert "It has taken" not in out


def test_a_line_stops_at_its_limit(run: Run) -> None:
    status, out, _ = run("line", "W:WKa1,Ke1,c3:BKb8", "--limit", "3", "--json")
    report = json.loads(out)
    assert (status, report["end"], len(report["moves"]), report["winner"]) == (0, "limit", 3, None)


def test_a_line_of_a_draw_stops_at_once(run: Run) -> None:
    status, out, _ = run("line", "W:WKa1:BKb8")
    assert status == 0
    assert out.rstrip().endswith("From here on the game is a draw.")


def test_a_line_that_a_missing_table_stops_is_status_1(run: Run) -> None:
    status, out, err = run("line", "W:WKa1,Kc1,Ke1:BKh8,Kb8")
    assert status == 1
    assert "The best move in " in out
    assert "shashki generate --pieces 5" in err


def test_the_library_alone_answers_without_numba_and_flask(tables4: Path) -> None:
    done = python(
        "import sys\n"
        "for name in ('numba', 'flask', 'tqdm', 'werkzeug'):\n"
        "    sys.modules[name] = None\n"
        "from tablebase.cli.main import main\n"
        f"sys.exit(main(['line', 'W:WKa1,Ke1,c3:BKb8', '--data', {str(tables4)!r}]))\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_leaves_no_trace(tables4: Path) -> None:
    """A real interrupt, while a command of another package waits."""
    code = (
        "import os, signal, sys\n"
        "from tablebase.cli import main as cli\n"
        "from tablebase.probe import tablebase\n"
        "def interrupted(*args, **options):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    signal.pause()\n"
        "tablebase.open_tablebase = interrupted\n"
        f"sys.exit(cli.main(['probe', 'W:WKa1:BKh8', '--data', {str(tables4)!r}]))\n"
    )
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_installed_command_runs() -> None:
    script = Path(sys.executable).with_name("shashki")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"shashki {version('shashki-tablebase')}\n")


def test_an_empty_set_answers_unknown() -> None:
    with Tablebase() as empty:
        report = position_report(analyse(empty, Clock.start(Position.start())))
    assert (report["outcome"], report["material"], report["pieces"]) == (
        "unknown",
        "M" * 12 + "v" + "M" * 12,
        24,
    )
    assert len(report["moves"]) == 7
    assert {move["outcome"] for move in report["moves"]} == {"unknown"}
