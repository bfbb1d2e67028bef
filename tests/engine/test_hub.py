"""The engine in the Hub protocol: its answers, as a process, and through pydraughts' driver."""

import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from draughts import Board
from draughts.engine import HubEngine, Limit
from playing import at_random

from tablebase import OFFICIAL, RULESETS, Clock, Numbering, Position, open_tablebase
from tablebase.board.notation import format_hub_move, format_hub_position, parse_hub_move
from tablebase.board.position import has_capture
from tablebase.engine.hub import HubInput, HubSession, parse_hub_line
from tablebase.games.pydraughts import clock_of, move_of, position_of, pydraughts_move
from tablebase.games.search import RuleSearch

START = format_hub_position(Position.start(), Numbering.B8)
TRIANGLE = Position.from_fen("W:WKc1,Kd2,Ka3:BKe1")
TRIANGLE_LINE = f"pos pos={format_hub_position(TRIANGLE, Numbering.B8)}"

Ask = Callable[..., list[str]]


@pytest.fixture
def ask(tables4: Path) -> Ask:
    """Sends lines to an engine of its own; gives what it answers."""

    def ask(*lines: str) -> list[str]:
        answers: list[str] = []
        with open_tablebase(tables4) as tablebase:
            HubSession(tablebase, OFFICIAL, answers.append).run(lines)
        return answers

    return ask


def done(answers: list[str]) -> str:
    """The move of the last answer."""
    command, arguments = parse_hub_line(answers[-1])
    assert command == "done", answers
    return arguments["move"]


# Answers


def test_hub_command_lists_id_and_parameters(ask: Ask) -> None:
    answers = ask("hub", "init", "ping", "quit", "ping")
    assert [parse_hub_line(line)[0] for line in answers] == ["id", *["param"] * 4, "wait", "ready", "pong"]
    parameters = {line["name"]: line for _, line in map(parse_hub_line, answers[1:5])}
    assert parameters["variant"] == {
        "name": "variant",
        "value": "russian",
        "type": "enum",
        "values": "russian",
    }
    assert parameters["ruleset"]["values"].split() == list(RULESETS)
    assert [parameters[f"{name}-numbering"]["value"] for name in ("position", "move")] == ["b8", "a1"]


def test_go_plays_the_only_winning_move(ask: Ask) -> None:
    answers = ask(TRIANGLE_LINE, "level move-time=1", "go think")
    assert str(parse_hub_move(TRIANGLE, done(answers), Numbering.A1)) == "d2-a5"
    assert re.fullmatch(r"info depth=1 score=99\.75 nodes=1 time=\d+\.\d{3} pv=6-17", answers[0]), (
        answers
    )  # 25 plies to the end


def test_moves_of_pos_count_for_draw_rules(ask: Ask, tables4: Path) -> None:
    """What the game has been since a position counts: the best move is that of its clock."""
    clock, random, played = Clock.start(TRIANGLE), Random(1), list[str]()
    with open_tablebase(tables4) as tablebase:
        for _ in range(24):
            quiet = [m for m in clock.position.legal_moves() if not has_capture(clock.position.play(m))]
            move = random.choice(quiet)
            played.append(format_hub_move(move, Numbering.A1))
            clock = clock.play_unchecked(move)
            answers = ask(f'{TRIANGLE_LINE} moves="{" ".join(played)}"', "go think")
            best = parse_hub_move(clock.position, done(answers), Numbering.A1)
            expected = RuleSearch(tablebase).best_move(clock)
            assert expected is not None
            assert best == expected.move
    assert (clock.counters.king_plies, clock.counters.three_kings_moves) == (24, 12)


def test_ruleset_parameter(ask: Ask) -> None:
    pos = TRIANGLE_LINE
    for ruleset in RULESETS:
        answers = ask(f"set-param name=ruleset value={ruleset}", pos, "go think")
        assert str(parse_hub_move(TRIANGLE, done(answers), Numbering.A1)) == "d2-a5"


@pytest.mark.parametrize("positions", Numbering)
@pytest.mark.parametrize("moves", Numbering)
def test_numbering_parameters(ask: Ask, positions: Numbering, moves: Numbering) -> None:
    answers = ask(
        f"set-param name=position-numbering value={positions}",
        f"set-param name=move-numbering value={moves}",
        f"pos pos={format_hub_position(TRIANGLE, positions)}",
        "go think",
    )
    assert str(parse_hub_move(TRIANGLE, done(answers), moves)) == "d2-a5"


@pytest.mark.parametrize(
    "level",
    [
        "depth=2",
        "nodes=10",
        "move-time=0.05",
        "time=1.5",
        "time=-3 inc=0.05",
        "moves=3 time=0.2",
        "infinite",
        "",
    ],
)
@pytest.mark.parametrize("mode", ["think", "ponder", "analyze"])
def test_level_limits_a_search_outside_the_tables(ask: Ask, level: str, mode: str) -> None:
    if level in ("nodes=10", "infinite", ""):
        pos = f"pos pos={format_hub_position(Position.from_fen('W:Wc3,e3,g1:Bd6,f6,b8'), Numbering.B8)}"
    else:
        pos = f"pos pos={START}"
    answers = ask(pos, f"level {level}", f"go {mode}", "stop", "ponder-hit")
    assert len(answers) == 2
    assert done(answers)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["set-param name=variant value=normal"], "variant cannot be 'normal'; it may be russian"),
        (["set-param name=book value=true"], "'book' is not a parameter"),
        (["set-param"], "'' is not a parameter"),
        (["set-param name=ruleset value=x"], "ruleset cannot be 'x'"),
        (["go think"], "no position to search"),
        (["pos"], "pos has no position"),
        (["pos pos=Wbb"], "not a position of this board"),
        ([f"pos pos=Ww{'e' * 31}"], "b8, its own last row"),
        ([f"pos pos={START} moves=1-2"], "not a legal move"),
        ([f"pos pos={START} moves=c3-d4"], "not a move of the Hub protocol"),
        ([f"pos pos={START} moves=9-99"], "99 is not a square"),
        ([f"pos pos=W{'e' * 32}", "go think"], "the side to move has lost"),
        ([f"pos pos={START}", "new-game", "go think"], "no position to search"),
        (["level depth=deep"], "depth cannot be 'deep'"),
        (["level time=nan"], "time cannot be 'nan'"),
        (['pos pos="W'], "not a command or an argument"),
    ],
)
def test_bad_commands_are_errors(ask: Ask, lines: list[str], message: str) -> None:
    answers = ask(*lines, "ping")
    (command, arguments), (after, _) = map(parse_hub_line, answers)
    assert (command, after) == ("error", "pong")
    assert message in arguments["message"]


def test_bad_position_clears_the_previous_one(ask: Ask) -> None:
    answers = ask(f"pos pos={START}", f"pos pos={START} moves=1-2", "go think")
    assert [parse_hub_line(line)[0] for line in answers] == ["error", "error"]


def test_info_has_the_number_of_nodes(ask: Ask) -> None:
    info, _ = ask(f"pos pos={START}", "level nodes=500", "go think")
    _, arguments = parse_hub_line(info)
    assert int(arguments["depth"]) > 1
    assert int(arguments["nodes"]) <= 500


@pytest.mark.parametrize("level", ["time=-9 inc=9.5", "moves=1 time=-9 inc=9.5", "time=-1 inc=0.5"])
def test_move_takes_less_than_the_remaining_time(ask: Ask, level: str) -> None:
    """`inc` is added before the move, so that pydraughts takes it away from the time that it sends."""
    info, _ = ask(f"pos pos={START}", f"level {level}", "go think")
    _, arguments = parse_hub_line(info)
    assert float(arguments["time"]) < 5  # of half a second or nothing, on a machine that does much else


# While it searches


LONG = (f"pos pos={START}", "level move-time=600")


@pytest.mark.parametrize(
    ("lines", "commands"),
    [
        (["go think", "stop"], "info done"),
        (["go ponder", "ponder-hit", "ping", "", "ping", "stop", "ping"], "pong pong info done pong"),
        (["go think", "stop", "go analyze", "ping", "stop"], "info done pong info done"),
        (["go think", "quit", "ping"], "info done"),
        (["go think", "quit now", "ping"], "info done"),
        (["go think", "new-game", "ping"], "info done pong"),  # what may not come now waits; then the end
        (["go think"], "info done"),
    ],
)
def test_running_search_answers_ping_and_stop(tables4: Path, lines: list[str], commands: str) -> None:
    answers: list[str] = []
    with open_tablebase(tables4) as tablebase:
        began = monotonic()
        HubSession(tablebase, OFFICIAL, answers.append).run(HubInput([*LONG, *lines]))
    assert [parse_hub_line(line)[0] for line in answers] == commands.split()
    assert monotonic() - began < 60


def test_input_error_is_raised(tables3: Path) -> None:
    def lines() -> Iterator[str]:
        yield "ping"
        raise OSError("no such device")

    answers: list[str] = []
    with open_tablebase(tables3) as tablebase, pytest.raises(OSError, match="no such device"):
        HubSession(tablebase, OFFICIAL, answers.append).run(HubInput(lines()))
    assert answers == ["pong"]


def test_ended_input_stays_ended() -> None:
    lines = HubInput(["a", "b"])
    assert next(lines) == "a"
    assert (next(lines), next(lines, None), next(lines, None), lines.peek()) == ("b", None, None, None)
    assert lines.has_ended


def test_unknown_commands_are_ignored(ask: Ask) -> None:
    assert ask("", "uci", "stop", "ponder-hit", "ping now=1") == ["pong"]


def test_damaged_table_is_an_error(copy3: Path) -> None:
    path = copy3 / "KvKK.wdl"
    path.write_bytes(path.read_bytes()[:-1])
    answers: list[str] = []
    position = format_hub_position(Position.from_fen("W:WKa1,Kc1:BKb8"), Numbering.B8)
    with open_tablebase(copy3) as tablebase:
        HubSession(tablebase, OFFICIAL, answers.append).run([f"pos pos={position}", "go think", "ping"])
    assert answers[0].startswith("error message=")
    assert "KvKK.wdl" in answers[0]
    assert answers[-1] == "pong"


# A process


@pytest.fixture
def program(tables4: Path, tmp_path: Path) -> Path:
    """A program that is the engine, as drivers start one."""
    path = tmp_path / "engine"
    arguments = f"[*sys.argv[1:], '--data', {str(tables4)!r}]"
    code = f"import sys; from tablebase.cli.main import main; sys.exit(main({arguments}))"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("end", ["quit\n", ""])
def test_process_answers_until_quit_or_end_of_input(program: Path, end: str) -> None:
    asked = f"hub\ninit\n\xff\n{TRIANGLE_LINE}\ngo think\n{end}"
    ran = subprocess.run(
        [program, "hub"], input=asked.encode("latin-1"), capture_output=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    lines = ran.stdout.decode().splitlines()
    assert (lines[-1], lines[6]) == ("done move=6-17", "ready")


def test_process_answers_ping_during_a_search(program: Path) -> None:
    with subprocess.Popen(
        [program, "hub"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        assert engine.stderr
        for line in (*LONG, "go think", "ping"):
            print(line, file=engine.stdin, flush=True)
        assert engine.stdout.readline() == "pong\n"
        print("stop", file=engine.stdin, flush=True)
        assert engine.stdout.readline().startswith("info depth=")
        assert engine.stdout.readline().startswith("done move=")
        # Interrupted while a thread waits for its input, it ends as any command does.
        engine.send_signal(signal.SIGINT)
        assert engine.wait(60) == 130
        assert engine.stderr.read() == ""


def test_bad_ruleset_is_bad_use(program: Path) -> None:
    ran = subprocess.run(
        [program, "hub", "--ruleset", "x"], input="", capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "'x' is not a ruleset" in ran.stderr


# pydraughts' driver


def test_pydraughts_plays_games_with_the_engine(program: Path) -> None:
    """The engine wins a triangle and holds a draw, on pydraughts' board, against a random player."""
    engine = HubEngine([str(program), "hub"])
    try:
        assert engine.variants == {"russian"}
        assert engine.id["name"] == "shashki-tablebase"
        engine.configure({"variant": "russian", "ruleset": "official"})
        engine.init()
        engine.ping()
        for fen, winner in (("W:WKc1,Kd2,Ka3:BKe1", "white"), ("W:WKc1,Kg1:BKb8,Kf8", None)):
            board = Board("russian", fen)
            opponent = at_random(5)
            clock = clock_of(board)
            while not clock.verdict().ends_the_game:
                if len(board.move_stack) % 2 == 0:
                    move = engine.play(board, Limit(movetime=1), ponder=False).move
                    assert move_of(position_of(board), move) in clock.position.legal_moves()
                else:
                    move = pydraughts_move(board, opponent(clock))
                board.push(move)
                clock = clock_of(board)
            assert clock.winner == winner or (winner is None and clock.winner != "black")
        assert engine.info["score"]
    finally:
        with engine.p:
            engine.quit()
    assert engine.p.returncode == 0
