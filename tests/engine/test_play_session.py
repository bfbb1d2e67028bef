"""A person plays against the tables: what is typed, what is told, and how games end."""

import io
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tablebase import Clock, open_tablebase
from tablebase.cli.main import main
from tablebase.games.search import RuleSearch

SHASHKI = [sys.executable, "-c", "import sys; from tablebase.cli.main import main; sys.exit(main())"]
TRIANGLE = "W:WKc1,Kd2,Ka3:BKe1"

Play = Callable[..., tuple[int, str, str]]


@pytest.fixture
def play(tables4: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Plays in this process what is typed, line by line; gives status, stdout and stderr."""

    def play(fen: str, typed: str, *options: str) -> tuple[int, str, str]:
        lines = "".join(f"{line}\n" for line in typed.split("|")) if typed else ""
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        status = main(["play", fen, "--data", str(tables4), *options])
        return status, *capsys.readouterr()

    return play


def test_person_wins_a_game(play: Play, tables4: Path) -> None:
    """Best play of the person's side wins, and the moves are told at the end."""
    with open_tablebase(tables4) as tablebase:
        line = RuleSearch(tablebase).line(Clock.from_fen(TRIANGLE))
        search, clock, typed = RuleSearch(tablebase), Clock.from_fen(TRIANGLE), []
        while (best := search.best_move(clock)) is not None:
            if clock.position.turn == "white":
                typed.append(str(best.move))
            clock = best.clock
    status, out, err = play(TRIANGLE, "|".join(typed))
    assert (status, err) == (0, "")
    assert f"white> {typed[0]}\nBlack plays e1-f2.\n" in out
    assert "Black has no pieces left: White wins.\n1. d2-a5 e1-f2 2. " in out
    assert out.count("white> ") == len(typed) == (len(line.moves) + 1) // 2


def test_counters_are_shown(play: Play) -> None:
    _, out, _ = play(f"{TRIANGLE}:C13,13,7,0,1", "d2-a5")
    assert "king-moves   7.2.5    13 of 30 plies                 17" in out
    assert "three-kings  7.2.4    8 of 15 moves of White          7" in out


@pytest.mark.parametrize(
    ("fen", "typed", "options", "end"),
    [
        (
            f"{TRIANGLE}:C28,28,14,0,1",
            "d2-c3",
            (),
            "The game is drawn, by three-kings (article 7.2.4, 15 moves",
        ),
        ("W:WKa1,Kc1:BKh2,Kf8:C29,29,0,0,1", "a1-b2", (), "by king-moves (article 7.2.5, 30 plies)"),
        ("W:WKa1,Kc1:BKh2,Kf8:C9,59,0,0,1", "a1-b2", (), "by balance (article 7.2.6, 60 plies)"),
        (
            "W:WKa1,Kc1:BKh2,Kf8:H59",
            "a1-b2",
            ("--ruleset", "lidraughts"),
            "by balance (article 7.2.6, 60 plies)",
        ),
        ("B:Wa1:B", "", (), "Black has no pieces left: White wins."),
        ("B:Wb6,c5:Ba7", "", ("--side", "white"), "Black has no move: White wins."),
        ("W:Wc3:Bd4", "c3:e5", (), "Black has no pieces left: White wins."),
        ("W:Wc3:Bd4", "", ("--side", "black"), "White plays c3:e5."),
    ],
)
def test_end_names_its_rule(play: Play, fen: str, typed: str, options: tuple[str, ...], end: str) -> None:
    status, out, err = play(fen, typed, *options)
    assert (status, err) == (0, "")
    assert end in out


def test_either_side_claims_a_repetition(play: Play) -> None:
    fen, back_and_forth = "W:WKa1,Kc1:BKh2,Kf8:C0,0,0,0,2", "a1-b2|b2-a1|a1-b2|b2-a1|a1-b2|b2-a1|draw"
    _, out, _ = play(fen, back_and_forth)
    assert "claims a draw" in out
    assert "repetition (article 7.2.3, 3 times): the game is drawn." in out
    _, out, _ = play("W:WKa1,Kc1:BKh2,Kf8:C0,0,0,0,3", "draw")
    assert "A draw can be claimed, by repetition (article 7.2.3, 3 times)." in out
    assert "White claims a draw, by repetition (article 7.2.3, 3 times): the game is drawn." in out
    _, out, _ = play("W:WKa1,Kc1:BKh2,Kf8:C0,0,0,0,3", "draw", "--ruleset", "classic")
    assert "by repetition (the same moves repeated, 3 times)" in out.replace("\n", " ")
    _, out, _ = play(TRIANGLE, "draw")
    assert "No rule lets you claim a draw here." in out


def test_hint_moves_help_and_undo(play: Play) -> None:
    _, out, _ = play(TRIANGLE, "hint|moves|HELP|undo|d2-a5|undo|hint||quit")
    assert (
        out.count("white> hint\nd2-a5. Under the rules (official), with the counts as they are, White wins.")
        == 2
    )
    assert "white> moves\nc1-b2 d2-c3 " in out
    assert "`undo` to take back" in out.partition("white> HELP\n")[2]
    assert "white> undo\nThere is no move of yours to take back." in out
    assert out.endswith("white> \nwhite> quit\nThe game is not finished.\n")
    assert out.count("0 of 30 plies") == 2  # at first, and after undo


def test_undo_returns_to_the_turn_of_the_person(play: Play) -> None:
    _, out, _ = play(TRIANGLE, "undo|a3-b2|quit", "--side", "black")
    assert "White plays d2-a5." in out
    assert "black> undo\nThere is no move of yours to take back." in out
    assert "legal moves: e1-" in out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("c3-d4", "is not a legal move in W:WKc1,Kd2,Ka3:BKe1; legal moves: c1-b2"),
        ("9-13", "name the numbering by its square 1"),
        ("play well", "'play well' is not a move"),
    ],
)
def test_bad_move_is_reported_and_asked_again(play: Play, typed: str, said: str) -> None:
    status, out, err = play(TRIANGLE, f"{typed}|d2-a5")
    assert (status, err) == (0, "")
    assert said in out.replace("\n", " ")
    assert "Black plays e1-f2." in out


def test_moves_ignore_case(play: Play) -> None:
    _, out, _ = play(TRIANGLE, "D2-A5|Quit")
    assert "1. d2-a5 e1-f2" in out


def test_squares_as_numbers(play: Play) -> None:
    _, out, _ = play("W:WK30,K26,K21:BK31", "26-13", "--numbering", "b8")
    assert "1. d2-a5 e1-f2" in out


def test_searched_moves_say_so(play: Play) -> None:
    _, out, _ = play("W:Wa1,c1,e1,g1:Bb8,d8,f8,h8", "hint|a1-b2|quit")
    assert out.count("The tables do not decide the best move here: a search of 6 plies found it.") == 2
    assert "a1-b2" in out


def test_bad_use(play: Play) -> None:
    for fen, options in (("W:Wa1", ()), (TRIANGLE, ("--ruleset", "x")), (f"{TRIANGLE}:C1", ())):
        status, out, err = play(fen, "", *options)
        assert (status, out) == (2, "")
        assert err.startswith("shashki: ")


# Processes


def test_end_of_input_ends_the_game(tables4: Path) -> None:
    ran = subprocess.run(
        [*SHASHKI, "play", TRIANGLE, "--data", tables4],
        input=b"\xff\nd2-a5",
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.endswith(b"The game is not finished.\n1. d2-a5 e1-f2\n")


@pytest.mark.parametrize("command", ["play", "hub"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams_are_empty(tables4: Path, command: str, closed: str) -> None:
    arguments = [*SHASHKI, command, *([TRIANGLE] if command == "play" else []), "--data", str(tables4)]
    ran = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize(("key", "status"), [(b"\x03", 130), (b"\x04", 0)])
def test_ctrl_c_and_ctrl_d_in_a_terminal(tables4: Path, key: bytes, status: int) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*SHASHKI, "play", TRIANGLE, "--data", tables4],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    try:
        seen = b""
        while b"white> " not in seen:
            seen += os.read(ours, 1000)
        if key == b"\x04":
            os.write(ours, key)
        for _ in range(60):
            if key == b"\x03":
                # What a terminal of its own would make of the key. A signal that comes when the prompt is
                # there and the line is not yet waited for is seen with the line; so it is sent once more.
                os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
                break
        assert process.wait(timeout=1) == status
    finally:
        process.kill()
        process.wait()
        os.close(theirs)
        os.close(ours)
    assert b"Traceback" not in seen
