"""Analysis: the verdict, moves by hand, the line, the address."""

import re

import pytest
from page_driver import Desk
from playwright.sync_api import Route, expect

THREE_KINGS = "W:WKc1,Kf8,Kh2:BKa7"


def test_the_verdict_and_the_moves(desk: Desk) -> None:
    desk.position(THREE_KINGS)
    expect(desk.verdict).to_have_text("White wins in 11 moves; the three-kings rule allows 15.")
    best = desk.find("[data-outcome=win] .move").first
    expect(best).to_contain_text("wins in 11 moves")
    expect(desk.find("[data-outcome=draw] .move")).to_have_count(17)
    expect(desk.find("[data-rule=three-kings]")).to_contain_text("0 of 15 moves of White")
    best.hover()
    expect(desk.find(".arrow")).to_have_count(1)
    desk.find("#verdict").hover()
    expect(desk.find(".arrow")).to_have_count(0)
    best.focus()
    expect(desk.find(".arrow")).to_have_count(1)


def test_moves_by_hand_count_and_can_be_taken_back(desk: Desk) -> None:
    desk.position(THREE_KINGS)
    desk.drag("f8", "g7")
    expect(desk.find("#turn")).to_have_text("Black to move")
    desk.move("a7", "b8")
    expect(desk.find("[data-rule=three-kings]")).to_contain_text("1 of 15 moves of White")
    expect(desk.verdict).to_have_text("White wins in 2 moves; the three-kings rule allows 14 more.")
    expect(desk.find("#fen")).to_have_value("W:WKc1,Kh2,Kg7:BKb8:C2,2,1,0,1")
    desk.find("#back").click()
    expect(desk.find("#turn")).to_have_text("Black to move")
    desk.find("#forward").click()
    expect(desk.find("#turn")).to_have_text("White to move")
    desk.find("#first").click()
    expect(desk.verdict).to_contain_text("in 11 moves")
    desk.page.keyboard.press("End")
    expect(desk.verdict).to_contain_text("in 2 moves")


def test_positions_that_come_up_again_are_counted(desk: Desk) -> None:
    desk.position("W:WKc1,Ke1:BKh8")
    for time in (1, 2, 3):
        expect(desk.find("[data-rule=repetition]")).to_contain_text(f"{time} of 3 times")
        if time < 3:
            for path in (("e1", "f2"), ("h8", "g7"), ("f2", "e1"), ("g7", "h8")):
                desk.move(*path)
    expect(desk.find("#ruled")).to_have_text("White may claim a draw: position repeated three times (7.2.3).")


def test_the_address_shares_the_position_and_the_history_works(desk: Desk) -> None:
    desk.position(THREE_KINGS)
    desk.move("f8", "g7")
    expect(desk.find("#turn")).to_have_text("Black to move")
    assert desk.parameters["fen"] == "B:WKc1,Kh2,Kg7:BKa7:C1,1,1,0,1"
    desk.page.go_back()
    expect(desk.find("#turn")).to_have_text("White to move")
    assert desk.parameters["fen"] == "W:WKc1,Kh2,Kf8:BKa7"
    desk.page.go_forward()
    expect(desk.find("#turn")).to_have_text("Black to move")
    desk.page.reload()
    expect(desk.find("#turn")).to_have_text("Black to move")
    expect(desk.square("g7")).to_have_attribute("aria-label", "g7, white king")
    desk.find("#back").click()
    expect(desk.square("f8")).to_have_attribute("aria-label", "f8, white king")


def test_a_line_plays_by_itself(desk: Desk) -> None:
    desk.position("W:Wg3,h4:Bc7")
    desk.find("#best-line").click()
    expect(desk.find("#line-end")).to_have_text("Best play: White wins after 11 plies.")
    expect(desk.find(".sheet-move")).to_have_count(11)
    desk.find("#sheet [data-ply='9']").click()
    expect(desk.find(".sheet-move[aria-current]")).to_have_attribute("data-ply", "9")
    desk.find("#play").click()
    expect(desk.verdict).to_have_text(re.compile("Black has no .*: White has won."))
    expect(desk.find("#play")).to_be_disabled()
    expect(desk.find("#play")).to_have_attribute("aria-label", "Play the best line")


def test_playing_stops_when_a_move_is_taken_back(desk: Desk) -> None:
    desk.position("W:Wg3,h4:Bc7")
    desk.find("#play").click()
    expect(desk.find("#turn")).to_have_text("Black to move")
    desk.find("#back").click()
    expect(desk.find("#play")).to_have_attribute("aria-label", "Play the best line")
    expect(desk.verdict).to_have_text("White wins in 6 moves.")


def test_another_ruleset(desk: Desk) -> None:
    desk.position(THREE_KINGS)
    expect(desk.find("#ruleset option")).to_have_count(len(desk.ask("/v1/rulesets")["rulesets"]))
    desk.find("#ruleset").select_option("club")
    expect(desk.verdict).to_have_text("White wins in 11 moves.")
    expect(desk.find("[data-rule=three-kings]")).to_have_count(0)
    assert desk.parameters["ruleset"] == "club"
    desk.page.reload()
    expect(desk.find("#ruleset")).to_have_value("club")


def test_counts_stand_when_the_rules_are_changed_and_changed_back(desk: Desk) -> None:
    # The win takes 13 moves, and 11 are left under the official rules; lidraughts counts otherwise.
    desk.open("fen=W:WKc1,Kd2,Ka3:BKe1:C9,9,4,0,1")
    drawn = "A draw now, as too many moves are counted already"
    expect(desk.verdict).to_contain_text(drawn)
    desk.find("#ruleset").select_option("lidraughts")
    expect(desk.verdict).to_contain_text(re.compile("White"))
    expect(desk.verdict).not_to_contain_text(drawn)
    desk.find("#ruleset").select_option("official")
    expect(desk.verdict).to_contain_text(drawn)
    assert desk.parameters["fen"].endswith(":C9,9,4,0,1")


def test_a_ruleset_that_there_is_not(desk: Desk) -> None:
    desk.open(f"fen={THREE_KINGS}&ruleset=none")
    expect(desk.find("#problem")).to_contain_text("There are no such rules.")
    desk.find("#ruleset").select_option("official")
    expect(desk.verdict).to_contain_text("White wins in 11 moves")
    expect(desk.find("#problem")).to_be_hidden()


@pytest.mark.parametrize("context", [{"reduced_motion": "no-preference"}], indirect=True)
def test_a_capture_is_chosen_and_shown_step_by_step(desk: Desk) -> None:
    desk.position("W:WKa1:Bb2,d4,f4,d6")
    expect(desk.find("#moves-card")).to_be_visible()
    paths = [move["path"] for move in desk.ask("/v1/position", fen=desk.parameters["fen"])["moves"]]
    # From e5 on it may go either way, and stop on two squares.
    assert {path[-1] for path in paths} == {"c7", "b8", "g3", "h2"}
    assert all(path[:-1] == ["a1", "c3", "e5"] for path in paths)
    desk.move("a1", "c3")
    expect(desk.find(".piece.taken")).to_have_count(1)
    expect(desk.square("e5")).to_have_attribute("data-state", "target")
    desk.square("e5").click()
    expect(desk.find(".piece.taken")).to_have_count(2)
    desk.square("g3").click()
    expect(desk.find("#turn")).to_have_text("Black to move")
    expect(desk.square("g3")).to_have_attribute("aria-label", "g3, white king")
    expect(desk.find(".pieces .piece")).to_have_count(2)


def test_a_compulsory_capture_is_told(desk: Desk) -> None:
    desk.position("W:Wc3,g3:Bd4")
    desk.find("[data-square=c3].movable").wait_for()
    notice = desk.find("#board-notice")
    told = "A capture is compulsory: the piece on c3 must take."
    expect(notice).to_have_text("")
    desk.square("g3").click()
    expect(notice).to_have_text(told)
    expect(desk.find(".mark-must")).to_have_count(1)
    expect(desk.square("c3")).to_have_accessible_name("c3, white man, must capture")
    desk.square("c3").click()
    expect(notice).to_have_text("")
    expect(desk.find(".mark-must")).to_have_count(0)
    # A square where the piece would go without capturing.
    desk.square("b4").click()
    expect(notice).to_have_text(told)
    desk.find("#language").select_option("ru")
    desk.square("a1").click()
    desk.find("[data-square=c3].movable").wait_for()
    desk.page.mouse.move(*desk.centre("g3"))
    desk.page.mouse.down()
    desk.page.mouse.move(*desk.centre("h4"), steps=4)
    desk.page.mouse.up()
    expect(notice).to_have_text("Взятие обязательно: бить должна шашка c3.")
    desk.move("c3", "e5")
    expect(notice).to_have_text("")
    expect(desk.find("#turn")).to_have_text("Ход чёрных")


def test_the_page_asks_once_a_position(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    expect(desk.verdict).to_be_visible()
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    desk.find("#fen").fill(THREE_KINGS)
    desk.find("#fen").press("Enter")
    expect(desk.find("[data-rule=three-kings] .clock-need")).to_be_visible()
    assert len([url for url in asked if "/v1/" in url]) == 1


def test_a_stale_answer_is_never_shown(desk: Desk) -> None:
    held: list[Route] = []
    desk.page.route(re.compile(r"/v1/position\?.*Kh2"), lambda route: held.append(route))
    desk.position(THREE_KINGS)
    expect(desk.find("#fen")).to_have_value(THREE_KINGS)
    with desk.page.expect_event("requestfailed", lambda request: "Kh2" in request.url):
        desk.find("#fen").fill("W:WKa1,Kc1:BKb8")
        desk.find("#fen").press("Enter")
    expect(desk.verdict).to_have_text("A draw with best play.")
    assert held
    expect(desk.find("#fen")).to_have_value("W:WKa1,Kc1:BKb8")


def test_a_stale_move_is_never_made(desk: Desk) -> None:
    desk.position(THREE_KINGS)
    move = desk.find(".move").first
    move.wait_for()
    held: list[Route] = []
    desk.page.route("**/v1/position?**", lambda route: held.append(route))
    move.click()
    expect(desk.find("#turn")).to_have_text("Black to move")
    # The moves still in sight are White's.
    move.click()
    assert desk.parameters["fen"].startswith("B:")
    held[0].continue_()
    expect(desk.find("[data-outcome=loss] .move").first).to_be_visible()
    assert len(held) == 1
    expect(desk.find("#turn")).to_have_text("Black to move")


def test_what_is_written_stays_when_an_answer_comes(desk: Desk) -> None:
    held: list[Route] = []
    desk.page.route("**/v1/position?**", lambda route: held.append(route))
    with desk.page.expect_request("**/v1/position?**"):
        desk.position("W:WKa1:BKh8")
    desk.find("#fen").fill("W:WKc1:BKh8")
    held[0].continue_()
    expect(desk.verdict).to_be_visible()
    expect(desk.find("#fen")).to_have_value("W:WKc1:BKh8")
    desk.page.unroute("**/v1/position?**")
    desk.find("#fen").press("Enter")
    expect(desk.square("c1")).to_have_accessible_name("c1, white king")


def test_problems_are_told_in_plain_sentences(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    desk.find("#fen").fill("W:WKa1,Kb1:BKh8")
    desk.find("#fen").press("Enter")
    expect(desk.find("#problem")).to_contain_text("This is no position as the page reads them.")
    expect(desk.find("#problem small")).to_contain_text("b1")
    desk.find("#language").select_option("ru")
    expect(desk.find("#problem")).to_contain_text("Это не запись позиции.")
    expect(desk.find(".verdict-card")).to_be_hidden()


def test_a_server_that_does_not_answer_is_told(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    expect(desk.verdict).to_be_visible()
    desk.page.route("**/v1/**", lambda route: route.abort())
    desk.find("#fen").fill("W:WKa1,Kc1:BKh8")
    desk.find("#fen").press("Enter")
    expect(desk.find("#problem")).to_contain_text("The server does not answer.")
    desk.page.unroute("**/v1/**")
    desk.find("#problem button").click()
    expect(desk.find("#problem")).to_be_hidden()
    expect(desk.find("#fen")).to_have_value("W:WKa1,Kc1:BKh8")
    expect(desk.verdict).to_be_visible()


def test_a_busy_server_is_asked_again(desk: Desk) -> None:
    refusals = 3
    problem = {"type": "about:blank", "title": "Busy", "status": 503, "detail": "not now"}

    def answer(route: Route) -> None:
        nonlocal refusals
        if not refusals:
            return route.continue_()
        refusals -= 1
        return route.fulfill(status=503, headers={"Retry-After": "0"}, json=problem)

    desk.page.route("**/v1/position?*", answer)
    desk.position("W:WKc1,Kd2,Ka3:BKe1")
    expect(desk.verdict).to_contain_text("White wins")
    refusals = 4
    desk.position("W:WKc1,Kd2,Ka3:BKa1")
    expect(desk.find("#problem")).to_be_visible()
    assert refusals == 0


def test_a_line_of_another_length_than_the_verdict_says_so(desk: Desk) -> None:
    said = "it need not be as long as the shortest win"
    for fen, other in (("W:WKa1,Ke1,c3:BKb8", True), (THREE_KINGS, False)):
        desk.position(fen)
        desk.find("#best-line").click()
        end = desk.find("#line-end")
        expect(end).to_contain_text("White wins after")
        assert (said in end.inner_text()) is other


def test_rules_changed_in_mid_game_count_from_its_start(desk: Desk) -> None:
    desk.position("W:WKc1,Kd2,Ka3:BKe1")
    for path in (("d2", "a5"), ("e1", "f2"), ("a3", "b2")):
        desk.move(*path)
    rules = desk.find("#ruleset")
    rules.select_option("lidraughts")
    desk.move("f2", "a7")
    rules.select_option("official")
    expect(desk.find("[data-rule=three-kings]")).to_contain_text("2 of 15 moves of White")
    expect(desk.find("#fen")).to_have_value("W:WKc1,Kb2,Ka5:BKa7:C4,4,2,0,1")
    # So do positions that were seen while other rules held.
    desk.find("#back").click()
    expect(desk.find("#fen")).to_have_value("B:WKc1,Kb2,Ka5:BKf2:C3,3,2,0,1")
    desk.find("#first").click()
    expect(desk.find("#fen")).to_have_value("W:WKc1,Kd2,Ka3:BKe1")


def test_rules_that_would_have_ended_the_game_count_on(desk: Desk) -> None:
    desk.open("fen=W:WKa1:BKh2:C0,0,0,0,1&ruleset=king-moves-only")
    for path in (("a1", "b2"), ("h2", "g3"), ("b2", "a1"), ("g3", "h2")) * 3:
        desk.move(*path)
    desk.find("#ruleset").select_option("official")
    expect(desk.find("[data-rule=balance]")).to_contain_text("12 of 10 plies")
    expect(desk.verdict).to_contain_text("The game is drawn: balance of forces")


def test_repeated_moves_are_counted_where_the_rules_ask_for_them(desk: Desk) -> None:
    desk.position("W:WKa1,Kc1:BKh2,Kg1")
    shuttle = (("a1", "b2"), ("h2", "g3"), ("b2", "a1"), ("g3", "h2"))
    for path in shuttle * 2:
        desk.move(*path)
    clock = desk.find("[data-rule=repetition]")
    expect(clock).to_contain_text("Position repeated three times", ignore_case=True)
    expect(clock).to_contain_text("3 of 3 times")
    desk.find("#ruleset").select_option("classic")
    expect(clock).to_contain_text("moves repeated three times")
    expect(clock).to_contain_text("2 of 3 times")
    for path in shuttle[:2]:
        desk.move(*path)
        expect(clock).to_contain_text("2 of 3 times")
    expect(desk.find("#ruled")).to_be_hidden()
    desk.move(*shuttle[2])
    expect(desk.find("#ruled")).to_have_text("Black may claim a draw: moves repeated three times.")
    desk.move(*shuttle[3])
    expect(desk.find("#ruled")).to_have_text("White may claim a draw: moves repeated three times.")
    desk.page.route("**/v1/game?*", lambda route: route.abort())
    desk.move("a1", "b2")
    # What the server says of the move alone.
    expect(clock).to_contain_text("of 3 times")
    desk.page.unroute("**/v1/game?*")
    desk.find("#back").click()
    desk.find("#forward").click()
    expect(desk.find("#ruled")).to_have_text("Black may claim a draw: moves repeated three times.")


def test_the_keyboard_stays_where_something_is(desk: Desk) -> None:
    desk.position("W:WKc1,Kf8,Kh2:BKa7")
    desk.find("#best-line").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.find("#sheet [data-ply='1']")).to_be_focused()
    desk.position("W:WKc3:Bd4")
    desk.find("#moves .move").first.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.verdict).to_have_text("Black has no pieces left: White has won.")
    expect(desk.verdict).to_be_focused()
