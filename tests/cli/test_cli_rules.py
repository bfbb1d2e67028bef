"""`shashki probe` and `shashki line` of a game in progress: the counters of a FEN, and rulesets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tablebase import Clock, find_ruleset, open_tablebase
from tablebase.cli.main import main
from tablebase.games.analysis import analyse
from tablebase.report.positions import position_report

Run = Callable[..., tuple[int, str, str]]

# 18 plies to the first capture, by one move alone.
THREE_KINGS = "W:WKc1,Kf4,Kg7:BKb8"


@pytest.fixture
def run(tables4: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("SHASHKI_DATA", str(tables4))

    def run(*argv: str) -> tuple[int, str, str]:
        return main(argv), *capsys.readouterr()

    return run


def test_probe_shows_the_counts_and_what_they_leave(run: Run) -> None:
    status, out, err = run("probe", f"{THREE_KINGS}:C13,13,6,0,1")
    assert (status, err) == (0, "")
    _, sentence, facts, rules, table, _ = out.split("\n\n")
    assert " ".join(sentence.split()) == (
        "White wins in 11 moves. Under the rules (official), with the counts as they are, it is a draw."
    )
    assert facts.endswith("\nruleset   official")
    assert rules.splitlines() == [
        "rule         article  count                   remaining",
        "king-moves   7.2.5    13 of 30 plies                 17",
        "three-kings  7.2.4    6 of 15 moves of White          9",
        "balance      7.2.6    13 of 60 plies                 47",
        "repetition   7.2.3    1 of 3 times                    2",
    ]
    head, first, *_ = table.splitlines()
    assert head.split() == ["move", "outcome", "by", "rules", "DTC", "DTB", "DTW", "position", "after", "it"]
    assert first.split()[:3] == ["f4-h2", "win", "draw"]


def test_probe_adds_no_sentence_where_the_counts_change_nothing(run: Run) -> None:
    for fen in (THREE_KINGS, f"{THREE_KINGS}:C12,12,5,0,1", f"{THREE_KINGS}:H12:F9"):
        assert run("probe", fen)[1].split("\n\n")[1] == "White wins in 11 moves."


def test_a_game_that_is_over_is_told_first_and_counts_beyond_a_limit_with_it(run: Run) -> None:
    fen = f"{THREE_KINGS}:C40,40,20,0,1"
    told = (
        "The game is drawn, by king-moves (article 7.2.5, 40 plies, the limit is 30) and three-kings "
        "(article 7.2.4, 20 moves of White, the limit is 15). From fresh counts: White wins in 11 moves."
    )
    for command in ("probe", "line"):
        assert " ".join(run(command, fen)[1].split("\n\n")[1].split()) == told
    rules = run("probe", fen)[1].split("\n\n")[3]
    assert "20 moves of White, the limit is 15" in rules


@pytest.mark.parametrize(
    ("fen", "says"),
    [
        ("W:WKa1,Ke1,c3:BKb8:C30,30,0,0,1", "The game is drawn, by king-moves (article 7.2.5, 30 plies)."),
        ("B:WKa1,Ke1,c3:BKb8:C4,4,0,0,3", "A draw can be claimed, by repetition (article 7.2.3, 3 times)."),
        ("B:WKa1,Ke1,c3:BKb8:C4,4,0,0,3", "with the counts as they are, it is a draw."),
    ],
)
def test_probe_says_what_the_rules_have_made_of_the_game(run: Run, fen: str, says: str) -> None:
    status, out, _ = run("probe", fen)
    assert status == 0
    assert says in " ".join(out.split())


def test_probe_json_is_the_report_of_the_api(run: Run, tables4: Path) -> None:
    for fen, name in ((f"{THREE_KINGS}:C13,13,6,0,1", "official"), (f"{THREE_KINGS}:H9", "lidraughts")):
        status, out, _ = run("probe", fen, "--ruleset", name, "--json")
        assert status == 0
        with open_tablebase(tables4) as tablebase:
            assert json.loads(out) == position_report(
                analyse(tablebase, Clock.from_fen(fen, find_ruleset(name)))
            )


def test_a_line_goes_as_far_as_the_rules_let_it(run: Run) -> None:
    status, out, _ = run("line", f"{THREE_KINGS}:C13,13,6,0,1", "--json")
    report = json.loads(out)
    assert (status, report["outcome"], report["rules_outcome"]) == (0, "win", "draw")
    assert (report["ruleset"], report["counters"]["three_kings_moves"]) == ("official", 6)
    assert (report["end"], report["winner"], len(report["moves"])) == ("draw", None, 17)
    assert [(rule["rule"], rule["count"]) for rule in report["fired"]] == [
        ("king-moves", 30),
        ("three-kings", 15),
    ]
    assert report["reason"].startswith("A draw by the rules: king-moves, article 7.2.5")
    text = run("line", f"{THREE_KINGS}:C13,13,6,0,1")[1]
    assert "it is a draw." in " ".join(text.split("\n\n")[1].split())
    assert text.rstrip().endswith(report["reason"])


def test_a_line_within_the_rules_is_won(run: Run) -> None:
    report = json.loads(run("line", f"{THREE_KINGS}:C12,12,5,0,1", "--json")[1])
    assert (report["end"], report["winner"], report["fired"]) == ("game-over", "white", [])
    assert report["rules_outcome"] == "win"


def test_a_line_of_a_drawn_game_has_no_moves(run: Run) -> None:
    report = json.loads(run("line", f"{THREE_KINGS}:C30,30,9,0,1", "--json")[1])
    assert (report["moves"], report["end"]) == ([], "draw")
    assert [rule["rule"] for rule in report["fired"]] == ["king-moves"]


def test_a_line_under_another_ruleset(run: Run) -> None:
    report = json.loads(run("line", f"{THREE_KINGS}:C13,13,5,0,1", "--ruleset", "classic", "--json")[1])
    assert (report["ruleset"], report["end"], report["winner"]) == ("classic", "game-over", "white")


def test_a_line_does_not_settle_for_a_draw_where_a_move_is_unknown(run: Run) -> None:
    """Giving the man leads to four pieces and draws; what other moves do no table of four pieces tells."""
    status, out, err = run("line", "W:WKa1,e1,c3:BKh8,Kb8", "--json")
    assert (status, json.loads(out)["end"]) == (1, "unknown")
    assert "shashki generate --pieces 5" in err


@pytest.mark.parametrize("command", ["probe", "line"])
@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([THREE_KINGS, "--ruleset", "house"], "'house' is not a ruleset; the rulesets are official"),
        ([f"{THREE_KINGS}:C1,1,1,1,1:C1,1,1,1,1"], "2 fields of counters"),
        ([f"{THREE_KINGS}:C1"], "'C1'"),
    ],
)
def test_bad_use(run: Run, command: str, argv: list[str], says: str) -> None:
    status, out, err = run(command, *argv)
    assert (status, out) == (2, "")
    assert says in err
