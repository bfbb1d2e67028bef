"""What a position is worth, in a sentence, and which draw rules that sentence names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tight_rules import tight

from generator.run import generate
from tablebase import Clock, Outcome, Position, Probe, Tablebase, open_tablebase
from tablebase.board.material import Material
from tablebase.cli.main import main
from tablebase.games.analysis import Cause, analyse, cause_of_draw
from tablebase.games.search import RuleSearch
from tablebase.report.positions import in_moves
from tablebase.report.sentences import RULES_OF_CAUSE, value_sentence
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS
from tablebase.tables.index import sets_at


@pytest.mark.parametrize(
    ("fen", "probe", "sentence"),
    [
        ("W:WKa1:BKb8", Probe(Outcome.WIN, 1, 1), "White wins in 1 move."),
        ("B:WKa1:BKb8", Probe(Outcome.WIN, 3, 25), "Black wins in 13 moves."),
        ("W:WKa1:BKb8", Probe(Outcome.LOSS, 2, 24), "Black wins in 12 moves."),
        ("B:WKa1:BKb8", Probe(Outcome.LOSS, 2, None), "White wins."),
        ("W:WKa1:BKb8", Probe(Outcome.LOSS, 0, 0), "White has no move and has lost."),
        ("W:WKa1:BKb8", Probe(Outcome.DRAW), "A draw."),
        (
            "W:WKa1:BKb8",
            Probe(Outcome.CURSED_WIN, None, 41),
            "A draw under the 15-king-moves rule, though White wins on the board in 21 moves: "
            "a win that takes too long.",
        ),
        (
            "W:WKa1:BKb8",
            Probe(Outcome.BLESSED_LOSS, None, 40),
            "A draw under the 15-king-moves rule, though Black wins on the board in 20 moves: "
            "a win that takes too long.",
        ),
        ("W:WKa1:BKb8", Probe(Outcome.UNKNOWN), "Not known: there is no table for this position."),
    ],
)
def test_sentences(fen: str, probe: Probe, sentence: str) -> None:
    assert KING_MOVES_ONLY.king_moves_plies == 30  # 15 of each side, as the sentence says
    assert value_sentence(Position.from_fen(fen), probe) == sentence


def test_moves_are_plies_halved_and_rounded_up() -> None:
    assert [in_moves(plies) for plies in (None, 0, 1, 2, 3, 4)] == [None, 0, 1, 1, 2, 2]


# Which rules make the draw


@pytest.fixture
def under_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Tablebase, Tablebase]]:
    """Tables of 2 and 3 pieces under two tight rules, and under the first of them alone."""
    for ruleset in (tight("test-both", 4, 3), tight("test-alone", 4, None)):
        monkeypatch.setitem(RULESETS, ruleset.name, ruleset)
        generate(tmp_path / ruleset.name, 3, jobs=2, ruleset=ruleset)
    with (
        open_tablebase(tmp_path / "test-both") as both,
        open_tablebase(tmp_path / "test-alone") as alone,
    ):
        yield both, alone


def cause_in(tablebase: Tablebase, position: Position) -> Cause | None:
    return analyse(tablebase, Clock.start(position), RuleSearch(tablebase, 0)).cause


def test_where_two_rules_are_named_the_first_alone_leaves_a_win(
    under_both: tuple[Tablebase, Tablebase],
) -> None:
    both, alone = under_both
    material = Material.parse("KMvK")
    together = 0
    for index in range(material.positions):
        position = Position(*sets_at(material, index))
        if both.probe(position).outcome is not Outcome.CURSED_WIN:
            continue
        cause = cause_in(both, position)
        if cause is Cause.TOGETHER:
            assert alone.probe(position).outcome is Outcome.WIN, position.to_fen()
            together += 1
        else:
            assert cause is Cause.NOT_TOLD
        if alone.probe(position).outcome is Outcome.CURSED_WIN:
            assert cause_in(alone, position) is Cause.KING_MOVES
    assert together > 100


@pytest.mark.parametrize(
    ("outcome", "after", "cause"),
    [
        (Outcome.CURSED_WIN, [Probe(Outcome.LOSS, 29, 80), Probe(Outcome.DRAW)], Cause.TOGETHER),
        (Outcome.CURSED_WIN, [Probe(Outcome.LOSS, 30, 80)], Cause.NOT_TOLD),  # one king move more is too many
        (Outcome.CURSED_WIN, [Probe(Outcome.LOSS, None, 80)], Cause.NOT_TOLD),
        (Outcome.CURSED_WIN, [Probe(Outcome.BLESSED_LOSS, None, 80)], Cause.NOT_TOLD),
        (Outcome.BLESSED_LOSS, [Probe(Outcome.WIN, 3, 80), Probe(Outcome.LOSS, 2, 2)], Cause.NOT_TOLD),
    ],
)
def test_causes(outcome: Outcome, after: list[Probe], cause: Cause) -> None:
    assert cause_of_draw(outcome, after, OFFICIAL) is cause
    assert cause_of_draw(outcome, after, KING_MOVES_ONLY) is Cause.KING_MOVES
    probe = Probe(outcome, None, 87)
    said = value_sentence(Position.from_fen("W:WKa1:BKb8"), probe, cause=cause)
    assert said.startswith(f"A draw under {RULES_OF_CAUSE[cause]}, though ")
    assert said.endswith(" wins on the board in 44 moves: a win that takes too long.")


@pytest.mark.whole
@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_win_that_two_rules_draw_is_told_as_such(
    tables5: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for fen, rules in (
        ("W:WKg3,Kb8,b2:BKh4,c5", "the 15-king-moves rule and the rule on the balance of forces together"),
        ("W:WKc7,Kb8,b2:BKd8,c5", "the 15-king-moves rule and the rule on the balance of forces together"),
        ("W:WKe1,Kd2,b2:BKc5,a3", "the rules on king moves and on the balance of forces"),
    ):
        assert main([command, fen, "--data", str(tables5)]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert f"A draw under {rules}, though White wins on the board" in out
