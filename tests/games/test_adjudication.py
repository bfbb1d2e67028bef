"""Games judged: how they ended by the rules, who made which mistake, and what is wrong with them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import GOLDEN

from tablebase import Color, Outcome, Position, Tablebase, open_tablebase
from tablebase.board.position import legal_moves
from tablebase.games.adjudication import (
    MAX_NODES,
    MAX_PLIES,
    Adjudication,
    Adjudicator,
    Ending,
    ProblemKind,
    ResultCheck,
)
from tablebase.games.pdn import FaultKind, GameResult, decode_pdn, read_games
from tablebase.report.games import game_report
from tablebase.report.text import game_text, sentence
from tablebase.rules.clock import Clock, GameStatus
from tablebase.rules.outcome import RulesOutcome
from tablebase.rules.rulesets import OFFICIAL, RULESETS, Ruleset

GAMES = GOLDEN / "games.pdn"

Judge = Callable[..., Adjudication]


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as tablebase:
        yield tablebase


@pytest.fixture(scope="module")
def judge(tablebase: Tablebase) -> Judge:
    """Judges the one game of a text, as `judge(moves, start, ruleset)`."""

    def judge(
        moves: str,
        start: str | None = None,
        ruleset: Ruleset = OFFICIAL,
        numbering: str | None = None,
        max_plies: int = MAX_PLIES,
    ) -> Adjudication:
        tag = "" if start is None else f'[FEN "{start}"]\n'
        adjudicator = Adjudicator(tablebase, ruleset, numbering, max_plies=max_plies)
        (judged,) = adjudicator.games(f"{tag}{moves}")
        return judged

    return judge


def fired(judged: Adjudication) -> list[tuple[int, str, str]]:
    """The plies after which rules had fired, with each rule and its article."""
    return [
        (played.ply, str(state.rule), state.article)
        for played in judged.plies
        for state in played.after.ruling.fired
    ]


def kinds(judged: Adjudication) -> list[str]:
    return [str(problem.kind) for problem in judged.problems]


def one_line(judged: Adjudication) -> str:
    return " ".join(game_text(judged, 80).split())


# How a game ends


def test_a_win(judge: Judge) -> None:
    judged = judge("1. g3-f4 e5:g3 2. h4:f2 2-0", "W:Wg3,h4:Be5")
    assert (judged.ending, judged.result, judged.agreement) == (
        Ending.WON,
        GameResult.WHITE_WINS,
        ResultCheck.AGREES,
    )
    assert judged.is_sound
    assert "White has won after 3 plies: Black has no pieces left." in sentence(judged)


def test_a_win_in_short_notation(judge: Judge) -> None:
    short = judge("1. gf4 eg3: 2. h:f2 2-0", "W:Wg3,h4:Be5")
    full = judge("1. g3-f4 e5:g3 2. h4:f2 2-0", "W:Wg3,h4:Be5")
    assert [played.move for played in short.plies] == [played.move for played in full.plies]
    assert (short.ending, short.problems) == (Ending.WON, ())


def test_ambiguous_short_move_is_unreadable(judge: Judge) -> None:
    judged = judge("1. ad4 2-0", "W:WKa1,Ka7:BKh6")
    assert (judged.ending, kinds(judged)) == (Ending.STOPPED, ["unreadable-move"])
    assert "write one of a1-d4, a7-d4" in judged.problems[0].message


def test_a_side_without_a_move_has_lost(judge: Judge) -> None:
    blocked = judge("1. e1-f2 1-1", "W:We1,g3:Bh4")
    assert (blocked.ending, blocked.result) == (Ending.WON, GameResult.WHITE_WINS)
    assert blocked.agreement is ResultCheck.CONTRADICTS
    assert "White has won after 1 ply: Black has no move." in sentence(blocked)
    assert "The written result, a draw, contradicts that." in sentence(blocked)
    assert not blocked.is_sound


def test_a_draw_by_a_rule(judge: Judge) -> None:
    moves = "1... b8-e5 2. c1-a3 e5-h8 3. g1-h2 h8-g7 4. h2-g1 g7-h8 5. a3-f8 h8-a1 6. f8-a3"
    start = "B:WKa5,Kc1,Kg1:BKb8"
    judged = judge(f"{moves} 1-1", start)
    assert fired(judged) == [(10, "main-road", "7.2.7")]
    assert (judged.ending, judged.result, judged.agreement) == (
        Ending.DRAWN,
        GameResult.DRAW,
        ResultCheck.AGREES,
    )
    assert judge(f"{moves} 2-0", start).agreement is ResultCheck.CONTRADICTS
    assert judge(moves, start).agreement is ResultCheck.NOTHING_WRITTEN
    # One ply less, and the rule has not fired.
    shorter = judge(f"{moves.removesuffix(' 6. f8-a3')} 1-1", start)
    assert (shorter.ending, shorter.result) == (Ending.CUT_SHORT, None)
    assert shorter.agreement is ResultCheck.NOT_DECIDED


def test_ruleset_changes_the_result(judge: Judge) -> None:
    moves, start = "1. c1-d2 1-1", "W:WKc1,Kg1:BKb8,Kf8:C29,29,0,0,1"
    assert judge(moves, start).ending is Ending.DRAWN
    judged = judge(moves, start, RULESETS["lidraughts"])
    assert (judged.ending, judged.ruleset.name) == (Ending.CUT_SHORT, "lidraughts")


def test_counters_go_on_from_the_fen(judge: Judge) -> None:
    judged = judge("1. c1-d2 f8-e7", "W:WKc1,Kg1:BKb8,Kf8:C28,30,0,0,1")
    assert [
        (played.after.clock.counters.king_plies, played.after.clock.counters.balance_plies)
        for played in judged.plies
    ] == [(29, 31), (30, 32)]
    assert fired(judged) == [(2, "king-moves", "7.2.5")]


def test_moves_after_the_end_are_a_problem(judge: Judge) -> None:
    won = judge("1. g3-f4 e5:g3 2. h4:f2 a7-b6 3. f2-g3", "W:Wg3,h4:Be5")
    assert (won.ending, kinds(won)) == (Ending.WON, [ProblemKind.AFTER_THE_END])
    problem = won.problems[0]
    assert (problem.ply, problem.move, problem.line) == (4, "a7-b6", 2)
    assert "won by white after ply 3" in problem.message
    assert "2 moves more, from 'a7-b6' on" in problem.message

    drawn = judge("1. c1-d2 f8-e7 2. d2-c1", "W:WKc1,Kg1:BKb8,Kf8:C29,29,0,0,1")
    assert (drawn.ending, len(drawn.plies)) == (Ending.DRAWN, 1)
    assert "king-moves, article 7.2.5" in drawn.problems[0].message

    over = judge("1. g3-f4", "B:Wg3:B")
    assert (over.ending, kinds(over)) == (Ending.WON, [ProblemKind.AFTER_THE_END])
    assert "before its first move" in over.problems[0].message


def test_a_rule_that_needs_a_missing_table_leaves_the_game_open(tmp_path: Path) -> None:
    moves = "1... b8-e5 2. c1-a3 e5-h8 3. g1-h2 h8-g7 4. h2-g1 g7-h8 5. a3-f8 h8-a1 6. f8-a3 a1-b2"
    pdn = f'[FEN "B:WKa5,Kc1,Kg1:BKb8"]\n{moves}'
    with open_tablebase(tmp_path) as empty:
        (judged,) = Adjudicator(empty).games(pdn)
    assert judged.plies[9].after.ruling.verdict is GameStatus.UNDETERMINED
    assert judged.plies[9].after.rules is RulesOutcome.UNKNOWN
    assert (judged.ending, judged.result, len(judged.plies)) == (Ending.CUT_SHORT, None, 11)
    assert "which no table tells" in one_line(judged)


@pytest.mark.parametrize(
    ("moves", "agreement"),
    [
        ("2-0", ResultCheck.NOT_DECIDED),
        ("0-0", ResultCheck.NOT_DECIDED),
        ("*", ResultCheck.NOTHING_WRITTEN),
        ("", ResultCheck.NOTHING_WRITTEN),
    ],
)
def test_an_empty_game_and_one_cut_short(judge: Judge, moves: str, agreement: ResultCheck) -> None:
    empty = judge(f'[Event "x"] {moves}')
    assert (empty.ending, empty.plies, empty.agreement) == (Ending.EMPTY, (), agreement)
    assert "has no moves" in sentence(empty)
    short = judge(f"1. c3-d4 {moves}")
    assert (short.ending, len(short.plies), short.agreement) == (Ending.CUT_SHORT, 1, agreement)
    assert short.is_sound


def test_rules_outcome_of_a_game_cut_short(judge: Judge) -> None:
    assert "Played on, White wins it." in sentence(judge("1. d2-a5", "W:WKc1,Kd2,Ka3:BKe1"))
    assert "Played on, it is a draw." in sentence(judge("1. c1-b2", "W:WKc1,Kd2,Ka3:BKe1"))
    # Five more pieces than the tables have: nothing is said.
    assert sentence(judge("1. c3-d4 *")).endswith("the game there. No result is written.")


# Moves that cannot be played


@pytest.mark.parametrize(
    ("moves", "ply", "kind", "says"),
    [
        ("1. c3-d4 d6-c5 2. b2-b3", 3, ProblemKind.UNREADABLE_MOVE, "'b3' is a light square"),
        ("1. c3-d4 d6-c5 2. hello", 3, ProblemKind.UNREADABLE_MOVE, "'hello' is not a move"),
        ("1. 22-18", 1, ProblemKind.UNREADABLE_MOVE, "name the numbering"),
        ("1. c3-d4 b6-c5 2. b2-c3", 3, ProblemKind.ILLEGAL_MOVE, "legal moves: d4:b6"),
        ("1. c3-d4 d6-d5", 2, ProblemKind.UNREADABLE_MOVE, "'d5' is a light square"),
        ("1. d6-c5", 1, ProblemKind.ILLEGAL_MOVE, "legal moves: a3-b4"),
        ("1. c3-d4 f6-g5 2. d4-e5 d6:f4:h2", 4, ProblemKind.ILLEGAL_MOVE, "legal moves: d6:f4"),
    ],
)
def test_unplayable_move_stops_the_game(
    judge: Judge, moves: str, ply: int, kind: ProblemKind, says: str
) -> None:
    judged = judge(f"{moves} 2-0")
    (problem,) = judged.problems
    assert (problem.kind, problem.ply, problem.line) == (kind, ply, 1)
    assert problem.move is not None
    assert problem.move in moves
    assert says in problem.message
    assert (judged.ending, len(judged.plies)) == (Ending.STOPPED, ply - 1)
    assert (judged.result, judged.agreement) == (None, ResultCheck.NOT_DECIDED)


def test_ambiguous_capture_needs_its_full_path(judge: Judge) -> None:
    start = "B:Wd2,c5,f6,c7:BKg5,a7"
    judged = judge("1... g5:e1", start)
    assert kinds(judged) == [ProblemKind.UNREADABLE_MOVE]
    assert "ambiguous; write one of g5:e7:b4:e1, g5:d8:a5:e1" in judged.problems[0].message
    for path, left in (("g5:e7:b4:e1", "Wc7"), ("g5:d8:a5:e1", "Wc5")):
        assert judge(f"1... {path}", start).plies[0].after.position.to_fen() == f"W:{left}:BKe1,a7"
    # One landing square on the way is enough to tell them apart.
    assert str(judge("1... g5xb4xe1", start).plies[0].move) == "g5:e7:b4:e1"


@pytest.mark.parametrize("text", ["c3:g7", "c3xe5xg7", "C3Xg7", "c3-e5-g7", "c3 : e5 : g7"])
def test_captures_in_every_spelling(judge: Judge, text: str) -> None:
    judged = judge(f"1. {text}", "W:Wc3:Bd4,d6,f6")
    assert [(str(played.move), played.text) for played in judged.plies] == [("c3:g7", text)]


def test_numbering_of_game_type_or_argument(judge: Judge) -> None:
    by_caller = judge("1. 22-18 9-13", numbering="b8")
    assert [str(played.move) for played in by_caller.plies] == ["c3-d4", "b6-a5"]
    by_game = judge('[GameType "25,W,8,8,N0,0"]\n1. 10-14 21-17', numbering="b8")
    assert [str(played.move) for played in by_game.plies] == ["c3-d4", "b6-a5"]


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ('[GameType "20,W,10,10,N2,0"]', "another game"),
        ('[FEN "W:Wa1"]', "no field for black"),
        ('[FEN "W:Wa1,h8:Bc7"]', "white man on h8"),
        ('[FEN "W:W21:B5"]', "name the numbering"),
        ('[FEN "W:Wa1:Bc7:C1,2"]', "C1,2"),
    ],
)
def test_unreadable_game_does_not_stop_the_next(tablebase: Tablebase, tags: str, says: str) -> None:
    first, second = Adjudicator(tablebase).games(f'{tags}\n1. c3-d4 2-0\n\n[Event "2"]\n1. c3-d4 d6-c5 1-1')
    assert (first.ending, first.start, first.plies) == (Ending.STOPPED, None, ())
    assert kinds(first) == [ProblemKind.UNREADABLE_GAME]
    assert says in first.problems[0].message
    assert (second.game.number, len(second.plies), second.problems) == (2, 2, ())


def test_max_plies_limits_a_game(judge: Judge) -> None:
    assert MAX_PLIES >= 500
    start = "W:WKa1,Kc1,c3,a3:BKh2,Kf8,d8,f6,h6"
    moves = "a1-b2 h2-g1 b2-a1 g1-h2 " * 11
    assert judge(moves, start).ending is Ending.DRAWN  # 15 moves
    judged = judge(moves, start, RULESETS["classic"], max_plies=40)  # where they are no draw
    assert (judged.ending, len(judged.plies)) == (Ending.STOPPED, 40)
    assert kinds(judged) == [ProblemKind.TOO_LONG]
    assert judged.problems[0].ply == 41
    assert "44 plies; only the first 40" in judged.problems[0].message
    assert judge(moves, start, RULESETS["classic"]).ending is Ending.CUT_SHORT


# Mistakes


def test_mistake_without_draw_rules(judge: Judge) -> None:
    judged = judge("1. a3-e7", "W:WKc1,Kd2,Ka3:BKe1")
    (mistake,) = judged.mistakes
    assert (mistake.ply, mistake.player, str(mistake.move)) == (1, Color.WHITE, "a3-e7")
    assert (mistake.unruled_before, mistake.unruled_after) == (Outcome.WIN, Outcome.DRAW)
    assert (mistake.rules_before, mistake.rules_after) == (RulesOutcome.WIN, RulesOutcome.DRAW)
    assert [str(move) for move in mistake.saving_moves] == ["d2-a5"]
    assert "1. a3-e7 (ply 1) is a mistake of White: win to draw; d2-a5 would have kept it" in one_line(judged)
    assert judge("1. d2-a5", "W:WKc1,Kd2,Ka3:BKe1").mistakes == ()


@pytest.mark.parametrize(
    ("start", "moves", "player"),
    [
        ("W:Wg3,h4:Bc7", "1. g3-f4 c7-d6 2. f4-e5 d6:f4", Color.WHITE),
        ("B:Wf2:Ba5,b6", "1... b6-c5 2. f2-e3 c5-d4 3. e3:c5", Color.BLACK),
    ],
)
def test_mistakes_of_either_side(judge: Judge, start: str, moves: str, player: Color) -> None:
    judged = judge(moves, start)
    assert [
        (m.ply, m.player, m.unruled_before, m.unruled_after, len(m.saving_moves)) for m in judged.mistakes
    ] == [
        (1, player, Outcome.WIN, Outcome.DRAW, 1),
        (3, player, Outcome.DRAW, Outcome.LOSS, 2),
    ]


def test_mistake_under_the_rules_alone(judge: Judge) -> None:
    # 18 plies are left, and only one move is quick enough: three others win two plies later.
    start = "W:WKc1,Kf4,Kg7:BKb8:C12,12,0,0,1"
    slow = judge("1. f4-e3", start)
    (mistake,) = slow.mistakes
    assert (mistake.unruled_before, mistake.unruled_after) == (Outcome.WIN, Outcome.WIN)
    assert (mistake.rules_before, mistake.rules_after) == (RulesOutcome.WIN, RulesOutcome.DRAW)
    assert [str(move) for move in mistake.saving_moves] == ["f4-h2"]
    assert "win to draw under the rules, a win as before on the board" in one_line(slow)
    assert judge("1. f4-h2", start).mistakes == ()
    assert judge("1. f4-e3", start.replace(":C12,12", ":C10,10")).mistakes == ()


def test_search_decides_open_outcomes(tablebase: Tablebase) -> None:
    """No tables are made under lidraughts' one clock, but after the capture at hand they are enough."""
    pdn = '[FEN "W:WKf2,Kc7,Kh8:BKb2:H14"]\n1. h8:a1'

    def prospects(max_nodes: int) -> list[RulesOutcome]:
        (judged,) = Adjudicator(tablebase, RULESETS["lidraughts"], max_nodes=max_nodes).games(pdn)
        assert judged.start is not None
        return [judged.start.rules, *(played.after.rules for played in judged.plies)]

    assert prospects(0) == [RulesOutcome.MAYBE_WIN, RulesOutcome.LOSS]
    assert prospects(1) == prospects(MAX_NODES) == [RulesOutcome.WIN, RulesOutcome.LOSS]


def test_a_position_that_came_up_twice_counts(judge: Judge) -> None:
    """Three kings that go to and fro: once more, and Black claims a draw, so only other moves still win."""
    judged = judge(
        "1. c3-d2 b8-a7 2. d2-c3 a7-b8 3. c3-d2 b8-a7 4. d2-c3 a7-b8 5. c3-d2", "W:WKc3,Ka1,Kc1:BKb8"
    )
    assert judged.ending is Ending.CUT_SHORT
    last = judged.plies[-1].after
    assert (last.unruled, last.ruling.verdict) == (Outcome.LOSS, GameStatus.CLAIMABLE)
    assert last.rules is RulesOutcome.DRAW
    (mistake,) = [mistake for mistake in judged.mistakes if mistake.ply == 9]
    assert (mistake.rules_before, mistake.rules_after) == (RulesOutcome.WIN, RulesOutcome.DRAW)
    assert "c3-d2" not in map(str, mistake.saving_moves)


def test_without_tables_there_are_no_mistakes(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as empty:
        (judged,) = Adjudicator(empty).games('[FEN "W:WKc1,Kd2,Ka3:BKe1"]\n1. a3-e7')
    assert judged.mistakes == ()
    assert (judged.plies[0].after.unruled, judged.plies[0].after.rules) == (
        Outcome.UNKNOWN,
        RulesOutcome.UNKNOWN,
    )


# Games of a server


def test_games_of_a_server(tablebase: Tablebase) -> None:
    """Each of them was looked at on a board: what it should say is written here by hand."""
    judged = list(Adjudicator(tablebase).games(decode_pdn(GAMES.read_bytes())))
    assert len(judged) == 22
    white, black, draw = GameResult.WHITE_WINS, GameResult.BLACK_WINS, GameResult.DRAW
    played = {
        # White's king captures the last man at ply 65.
        1: (65, Ending.WON, white, white, ResultCheck.AGREES, "B:WKe5,e3:B"),
        # Black's man has captured through to g1; White, five men v seven pieces, ran out of time.
        2: (
            18,
            Ending.CUT_SHORT,
            None,
            black,
            ResultCheck.NOT_DECIDED,
            "W:Wa1,c1,e1,b2,a3:BKg1,h6,a7,b8,d8,f8,h8",
        ),
        # Kings go to and fro: a draw by repetition, with the last move or one before it.
        5: (90, Ending.CUT_SHORT, None, draw, ResultCheck.AGREES, "W:WKa1,a7:BKb4,b8"),
        # White, left with one man, resigned two moves before the end.
        9: (66, Ending.CUT_SHORT, None, black, ResultCheck.NOT_DECIDED, "W:Wa3:BKg1,c5"),
        12: (108, Ending.WON, black, black, ResultCheck.AGREES, "W:W:BKg5,h6"),
        # Two kings v one on g7, which holds the main road: a draw by agreement, no count is near its end.
        14: (85, Ending.CUT_SHORT, None, draw, ResultCheck.NOT_DECIDED, "B:WKg1,Ke5:BKg7"),
        15: (66, Ending.WON, black, black, ResultCheck.AGREES, "W:W:BKa7,h2,h8"),
        16: (
            26,
            Ending.CUT_SHORT,
            None,
            black,
            ResultCheck.NOT_DECIDED,
            "W:We1,g1,b2,d2,h2,a3,c3,f4,h4:Bg5,h6,a7,c7,e7,d8,f8",
        ),
        # The game that follows the result of record 16, without tags.
        17: (61, Ending.WON, white, white, ResultCheck.AGREES, "B:WKa1,g1,e3,h4,h6:B"),
    }
    for one in judged:
        number = one.game.number
        if number not in played:
            assert (one.ending, one.plies, one.result) == (Ending.EMPTY, (), None)
            assert one.agreement is ResultCheck.NOT_DECIDED
            continue
        plies, ending, result, written, agreement, fen = played[number]
        assert one.last is not None
        assert (len(one.plies), one.ending, one.result, one.game.written_result, one.agreement) == (
            plies,
            ending,
            result,
            written,
            agreement,
        ), number
        assert one.last.position.to_fen() == fen
    assert {one.game.number: kinds(one) for one in judged if one.problems} == {
        **{number: [FaultKind.RESULTS_DIFFER] for number in (1, 5, 9, 12, 14, 15)},
        16: [FaultKind.AFTER_RESULT, FaultKind.RESULTS_DIFFER],
    }
    # Only the to and fro of game 5 comes near a rule: its last move makes a position the third time.
    assert {one.game.number: fired(one) for one in judged if fired(one)} == {5: [(90, "repetition", "7.2.3")]}
    # Up to four pieces nobody has thrown anything away.
    assert [one.game.number for one in judged if one.mistakes] == []


# Arbitrary texts

MOVES = ("1.", "c3-d4", "d6-c5", "d4:b6", "a7:c5", "22-18", "b2-c3", "2-0", "½-½", "hello", "a1", "9")
SIGNS = ("*", "(", "{", "[", "]", "\n", '[FEN "W:Wa1:Bc7"]', '[GameType "25"]', '[Event "x"]')
WORDS = st.sampled_from(MOVES + SIGNS)


@given(st.text() | st.lists(WORDS).map(" ".join), st.sampled_from(sorted(RULESETS)))
@settings(max_examples=150)
def test_any_text_is_judged(tablebase: Tablebase, text: str, ruleset: str) -> None:
    for judged in Adjudicator(tablebase, RULESETS[ruleset]).games(text):
        assert json.loads(json.dumps(game_report(judged))) == game_report(judged)
        shown = game_text(judged, 40)
        assert all(char.isprintable() or char == "\n" for char in shown)
        if judged.ending in (Ending.WON, Ending.DRAWN):
            assert judged.result is not None
        assert len(judged.plies) <= len(judged.game.moves)


@given(st.randoms(use_true_random=False), st.sampled_from(sorted(RULESETS)))
@settings(max_examples=30)
def test_a_game_from_any_ply_with_its_counters_is_judged_the_same(
    tablebase: Tablebase, random: Random, name: str
) -> None:
    ruleset = RULESETS[name]
    position = Position.from_fen("W:WKc1,Kg1,c3:BKb8,Kf8")
    texts: list[str] = []
    clock = Clock.start(position, ruleset)
    while len(texts) < 60 and (moves := legal_moves(clock.position)):
        move = random.choice(moves)
        texts.append(str(move))
        clock = clock.play_unchecked(move)
    (whole,) = Adjudicator(tablebase, ruleset).games(f'[FEN "{position.to_fen()}"]\n{" ".join(texts)}')
    if not whole.plies:
        return
    cut = random.randrange(len(whole.plies))
    middle = whole.plies[cut - 1].after if cut else whole.start
    assert middle is not None
    rest = " ".join(texts[cut:])
    (part,) = Adjudicator(tablebase, ruleset).games(f'[FEN "{middle.clock.to_fen()}"]\n{rest}')

    def verdicts(judged: Adjudication, first: int) -> list[Any]:
        """What is said at each ply; repetition aside, as its history is not in a FEN."""
        return [
            [
                (state.rule, state.count, state.fired)
                for state in played.after.ruling.states
                if state.rule != "repetition"
            ]
            for played in judged.plies[first:]
        ]

    of_part, of_whole = verdicts(part, 0), verdicts(whole, cut)
    assert of_part[: len(of_whole)] == of_whole


def test_games_are_judged_lazily(tablebase: Tablebase) -> None:
    """Games are judged as they are asked for: a file of any length takes the memory of one."""
    games = Adjudicator(tablebase).games("1. c3-d4 *\n" * 100_000)
    assert next(games).game.number == 1
    assert next(read_games("1. c3-d4 *\n" * 100_000)).number == 1
