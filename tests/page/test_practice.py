"""Practice against the tablebase."""

import re

import pytest
from page_driver import Desk
from playwright.sync_api import Route, expect


def start(desk: Desk, endgame: str, fen: str) -> None:
    """Begin a practice of a class with a position that is not left to chance."""

    def drawn(route: Route) -> None:
        route.fulfill(json={"fen": fen, "material": "", "outcome": "", "seed": 0})

    desk.page.route("**/v1/random?**", drawn)
    desk.open("view=practice")
    desk.find("#practice-class").select_option(endgame)
    desk.find("#practice-start").click()
    expect(desk.find("#practice-turn")).to_have_text("Your move.")


def test_a_win(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKh2,Kg3,Ka5:BKd4")
    turn = desk.find("#practice-turn")
    moves = 0
    while turn.get_attribute("data-state") == "yours":
        desk.move(*desk.best_path())
        moves += 1
        assert moves <= 5
        expect(turn).to_have_attribute("data-state", re.compile("yours|over"))
    expect(desk.find(".practice-won #practice-turn")).to_contain_text("Won!")
    expect(desk.find("#practice-turn")).to_contain_text("0 mistakes.")
    expect(desk.find("#practice-notes")).to_have_text("None so far.")


def test_a_mistake_is_told_and_can_be_taken_back(desk: Desk) -> None:
    fen = "W:WKc1,Kf8,Kh2:BKa7"
    start(desk, "threeKings", fen)
    wrong = desk.ask("/v1/position", fen=fen)["moves"][-1]
    assert wrong["rules_outcome"] == "draw"
    desk.move(*wrong["path"])
    note = desk.find("#practice-notes .note-spoilt")
    expect(note).to_contain_text(f"{wrong['move']}: a win has become a draw. Winning:")
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    expect(desk.find("[data-rule=three-kings]")).to_contain_text("1 of 15")
    desk.find("#take-back").click()
    expect(desk.find("#practice-notes")).to_have_text("None so far.")
    expect(desk.find("[data-rule=three-kings]")).to_contain_text("0 of 15")
    assert desk.parameters["fen"] == "W:WKc1,Kh2,Kf8:BKa7"
    desk.find("#hint").click()
    expect(desk.find(".arrow")).to_have_count(1)


def test_a_lost_position_sets_no_task(desk: Desk) -> None:
    desk.open("view=practice&side=white&fen=W:WKa1:BKh8")
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    expect(desk.find(".practice-goal")).to_have_text("You are White.")


def test_a_slow_win_is_told(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKc1,Kf8,Kh2:BKa7")
    desk.move("h2", "e5")
    expect(desk.find("#practice-notes .note-slow")).to_contain_text("h2-e5 still wins, 2 moves slower than")


def test_a_draw_is_held_until_a_rule_ends_the_game(desk: Desk) -> None:
    # The three kings have made 14 moves; the lone king has to survive one more.
    start(desk, "holdRoad", "W:WKa1:BKc7,Kb8,Kd8:C27,27,14,0,1")
    desk.move("a1", "h8")
    expect(desk.find("#practice-turn")).to_contain_text("Held!")
    expect(desk.find("#practice-turn")).to_contain_text("three kings against one (7.2.4)")


def test_any_pieces(desk: Desk) -> None:
    desk.open("view=practice")
    desk.find("#practice-class").select_option("any")
    desk.find("#practice-material").select_option("KvK")
    desk.find("#practice-outcome").select_option("draw")
    desk.find("#practice-start").click()
    expect(desk.find("#practice-turn")).to_be_visible()
    assert desk.ask("/v1/position", fen=desk.parameters["fen"])["rules_outcome"] == "draw"


def test_reloading_goes_on(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKc1,Kf8,Kh2:BKa7")
    desk.move(*desk.best_path())
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    desk.page.reload()
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    expect(desk.find(".practice-goal")).to_have_text("You are White: win.")


def test_reloading_forgets_no_task_and_no_mistake(desk: Desk) -> None:
    fen = "W:WKc1,Kf8,Kh2:BKa7"
    start(desk, "threeKings", fen)
    desk.find("#hint").click()
    desk.move(*desk.ask("/v1/position", fen=fen)["moves"][-1]["path"])
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    expect(desk.find("#practice-verdict")).to_contain_text("draw")
    for _ in range(2):
        expect(desk.find(".practice-goal")).to_have_text("You are White: win.")
        expect(desk.find("#practice-notes .note-spoilt")).to_contain_text("a win has become a draw")
        expect(desk.find(".practice-sheet [data-ply]")).to_have_count(2)
        desk.page.reload()
    desk.find("#take-back").click()
    expect(desk.find("#practice-verdict")).to_contain_text("White wins in 11 moves")
    # The address has the task as it was set, not what has become of it.
    assert desk.parameters == {
        "view": "practice",
        "fen": "W:WKc1,Kh2,Kf8:BKa7",
        "side": "white",
        "goal": "win",
    }


def test_a_reload_elsewhere_forgets_no_practice(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKc1,Kf8,Kh2:BKa7")
    desk.move("h2", "e5")
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    desk.find("#to-analysis").click()
    expect(desk.verdict).to_be_visible()
    desk.page.reload()
    expect(desk.verdict).to_be_visible()
    desk.find("nav [data-view=practice]").click()
    expect(desk.find(".practice-goal")).to_have_text("You are White: win.")
    expect(desk.find("#practice-notes .note-slow")).to_have_count(1)
    expect(desk.find(".practice-sheet [data-ply]")).to_have_count(2)


def test_going_back_to_an_earlier_practice_finds_its_task(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKc1,Kf8,Kh2:BKa7")
    desk.move("h2", "e5")
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    desk.page.unroute("**/v1/random?**")
    desk.page.route(
        "**/v1/random?**", lambda route: route.fulfill(json={"fen": "W:WKa1:BKc7,Kb8,Kd8:C27,27,13,0,1"})
    )
    desk.find("#practice-class").select_option("holdRoad")
    desk.find("#practice-start").click()
    expect(desk.find(".practice-goal")).to_have_text("You are White: hold the draw.")
    expect(desk.find("#practice-notes")).to_have_text("None so far.")
    desk.page.go_back()
    expect(desk.find(".practice-goal")).to_have_text("You are White: win.")
    expect(desk.find("#practice-notes .note-slow")).to_have_count(1)
    expect(desk.find("#practice-turn")).to_have_text("Your move.")


def test_an_address_sets_the_task(desk: Desk) -> None:
    desk.open("view=practice&side=black&goal=draw&fen=B:WKc1,Kf8,Kh2:BKa7")
    expect(desk.find(".practice-goal")).to_have_text("You are Black: hold the draw.")
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    a1, h8 = desk.square("a1").bounding_box(), desk.square("h8").bounding_box()
    assert a1 is not None
    assert h8 is not None
    assert a1["y"] < h8["y"]


def test_a_claimed_draw_stays_claimed(desk: Desk) -> None:
    desk.open("view=practice&side=white&goal=draw&fen=W:WKa1:BKh2,Kb8:C0,0,0,0,3")
    desk.find("#claim").click()
    result = "Held! A draw was claimed by repetition. 0 mistakes."
    expect(desk.find("#practice-turn")).to_have_text(result)
    desk.page.reload()
    expect(desk.find("#practice-turn")).to_have_text(result)


def test_the_game_goes_on_after_a_look_at_the_analysis(desk: Desk) -> None:
    start(desk, "threeKings", "W:WKc1,Kf8,Kh2:BKa7")
    desk.find("#to-analysis").click()
    expect(desk.verdict).to_contain_text("White wins in 11 moves")
    desk.move("c1", "e3")
    expect(desk.find("#turn")).to_have_text("Black to move")
    desk.find("nav [data-view=practice]").click()
    expect(desk.find("#practice-turn")).to_have_attribute("data-state", "yours")
    expect(desk.square("c1")).to_have_attribute("aria-label", "c1, white king")
    desk.move("c1", "b2")
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()


def test_no_such_position_is_told(desk: Desk) -> None:
    kind = "tag:shashki-tablebase,2026:no-such-position"
    problem = {"type": kind, "title": "No such position", "status": 404, "detail": "there is none"}
    desk.page.route("**/v1/random?**", lambda route: route.fulfill(status=404, json=problem))
    desk.open("view=practice")
    desk.find("#practice-start").click()
    expect(desk.find("#problem")).to_have_text("There is no such position.")
    desk.find("#language").select_option("lv")
    expect(desk.find("#problem")).to_have_text("Tādas pozīcijas nav.")


def test_a_lost_position_is_defended_as_long_as_it_can_be(desk: Desk) -> None:
    fen = "W:WKg3:BKa3,Kc3,d2"
    moves = desk.ask("/v1/position", fen=fen)["moves"]
    longest = max(moves, key=lambda move: move["dtw"])
    assert longest["dtw"] > moves[0]["dtw"]
    desk.open(f"view=practice&side=black&goal=win&fen={fen}")
    expect(desk.find(".practice-sheet [data-ply='1']")).to_have_text(longest["move"])


def test_a_hint_is_never_told_to_be_slow(desk: Desk) -> None:
    desk.open("view=practice&side=white&goal=win&fen=W:WKc1,Kg5,g7:BKf8")
    desk.find("#hint").click()
    expect(desk.find("#practice .notice")).to_have_text("A best move is g5-e3.")
    desk.move("g7", "h8")
    note = desk.find("#practice-notes li")
    expect(note).to_have_text("g7-h8 still wins, 11 moves slower than g5-e3.")
    desk.find("#take-back").click()
    desk.move("g5", "e3")
    expect(desk.find(".practice-sheet [data-ply='2']")).to_be_visible()
    expect(note).to_have_text("None so far.")


def test_trying_again_looks_for_a_position_again(desk: Desk) -> None:
    desk.page.route("**/v1/random?*", lambda route: route.abort())
    desk.open("view=practice")
    desk.find("#practice-start").click()
    expect(desk.find("#problem")).to_contain_text("The server does not answer.")
    desk.page.unroute("**/v1/random?*")
    desk.find("#problem button").click()
    expect(desk.find("#practice-turn")).to_have_text("Your move.")


def test_a_task_that_cannot_be_met_says_so(desk: Desk) -> None:
    hopeless = desk.find("#hopeless")
    desk.open("view=practice&side=white&goal=win&fen=W:WKc1,Ke1:BKh8")
    expect(hopeless).to_have_text("Under these rules the task cannot be met from here.")
    # The count of the balance leaves two plies, and the win takes more.
    fen = "W:WKc1,Kd2,Ka3:BKe1:C0,58,0,0,1"
    desk.open(f"view=practice&side=white&goal=win&fen={fen}&ruleset=king-moves-only")
    expect(desk.find("#practice-turn")).to_have_text("Your move.")
    expect(hopeless).to_have_count(0)
    desk.find("#ruleset").select_option("official")
    expect(hopeless).to_be_visible()


@pytest.mark.parametrize(
    ("fen", "wrong"), [("W:Wz9:Bb2", "no position"), ("W:WK1:BK32", "Choose which square")]
)
def test_a_task_without_a_position_is_not_thought_about(desk: Desk, fen: str, wrong: str) -> None:
    desk.open(f"view=practice&side=white&goal=win&fen={fen}")
    expect(desk.find("#problem")).to_contain_text(wrong)
    expect(desk.find("#practice-turn")).to_have_text("The game cannot go on.")
