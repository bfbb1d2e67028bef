"""Setting up a position."""

import pytest
from page_driver import Desk
from playwright.sync_api import expect


def test_set_up_a_position_and_read_the_verdict(desk: Desk) -> None:
    desk.open()
    desk.find("#set-up").click()
    desk.find("#clear").click()
    for piece, squares in (("white king", ["c1", "h2", "f8"]), ("black king", ["a7"])):
        desk.page.get_by_role("radio", name=piece).check()
        for square in squares:
            desk.square(square).click()
    expect(desk.find("#fen")).to_have_value("W:WKc1,Kh2,Kf8:BKa7")
    expect(desk.verdict).to_have_text("White wins in 11 moves; the three-kings rule allows 15.")
    desk.find("[name=turn][value=black]").check()
    expect(desk.find("#fen")).to_have_value("B:WKc1,Kh2,Kf8:BKa7")
    desk.find("#swap").click()
    expect(desk.find("#fen")).to_have_value("W:WKh2:BKc1,Ka7,Kf8")
    assert desk.parameters["fen"] == "W:WKh2:BKc1,Ka7,Kf8"
    desk.find("#done").click()
    expect(desk.find("#setup")).to_be_hidden()


def test_nobody_has_won_while_a_side_has_no_piece_yet(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    desk.find("#set-up").click()
    desk.find("#clear").click()
    expect(desk.verdict).to_have_text("The board is empty: both sides need a piece.")
    expect(desk.find("#clocks-card")).to_be_hidden()
    desk.square("c3").click()
    expect(desk.verdict).to_have_text("Black has no piece: both sides need one.")
    for hidden in ("#moves-card", "#clocks-card", "#distances", "#best-line"):
        expect(desk.find(hidden)).to_be_hidden()
    desk.page.get_by_role("radio", name="black king").check()
    desk.square("h8").click()
    expect(desk.verdict).to_contain_text("Black wins in")
    expect(desk.find("#clocks-card")).to_be_visible()
    # By a move a side may well lose its last piece.
    desk.position("W:Wc3:Bd4")
    desk.move("c3", "e5")
    expect(desk.verdict).to_have_text("Black has no pieces left: White has won.")


def test_drag_off_and_erase(desk: Desk) -> None:
    desk.position("W:WKa1,c3:BKh8")
    desk.find("#set-up").click()
    desk.drag("c3", "e5")
    expect(desk.square("e5")).to_have_attribute("aria-label", "e5, white man")
    desk.drag("e5", "f8")
    # A man on the last row is a king.
    expect(desk.square("f8")).to_have_attribute("aria-label", "f8, white king")
    desk.page.get_by_role("radio", name="take off").check()
    desk.square("f8").click()
    expect(desk.find("#fen")).to_have_value("W:WKa1:BKh8")
    box = desk.find("#board").bounding_box()
    assert box is not None
    desk.page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.1)
    desk.page.mouse.down()
    desk.page.mouse.move(box["x"] + box["width"] + 60, box["y"], steps=4)
    desk.page.mouse.up()
    expect(desk.find("#fen")).to_have_value("W:WKa1:B")


def test_turn_the_board(desk: Desk) -> None:
    desk.position("W:WKa1,Kc1:BKh8")
    before = desk.square("a1").bounding_box()
    desk.find("#flip").click()
    after = desk.square("a1").bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] > before["x"]
    assert after["y"] < before["y"]
    desk.move("c1", "d2")
    expect(desk.find("#turn")).to_have_text("Black to move")


def test_numbers_of_squares(desk: Desk) -> None:
    desk.open()
    desk.find("#fen").fill("W:WK1:BK32")
    desk.find("#fen").press("Enter")
    expect(desk.find("#problem")).to_contain_text("Choose which square is number 1.")
    expect(desk.find("#numbering")).to_be_focused()
    desk.find("#numbering").select_option("g1")
    expect(desk.find("#fen")).to_have_value("W:WKg1:BKb8")
    expect(desk.find("#problem")).to_be_hidden()
    desk.find("#fen").fill("W:WK1:BK32")
    desk.find("#numbering").select_option("a1")
    desk.find("#fen-form button").first.click()
    expect(desk.find("#fen")).to_have_value("W:WKa1:BKh8")
    expect(desk.square("h8")).to_have_attribute("aria-label", "h8, black king")
    expect(desk.find("#numbering")).to_be_hidden()


def test_an_address_with_numbers_asks_what_they_mean(desk: Desk) -> None:
    desk.position("W:WK1:BK32")
    expect(desk.find("#problem")).to_contain_text("Choose which square is number 1.")
    desk.find("#numbering").select_option("b8")
    expect(desk.find("#fen")).to_have_value("W:WKb8:BKg1")
    desk.open("fen=W:WK1:BK32&numbering=g1")
    expect(desk.find("#fen")).to_have_value("W:WKg1:BKb8")


@pytest.mark.parametrize("context", [{"permissions": ["clipboard-read", "clipboard-write"]}], indirect=True)
def test_copy_the_fen(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    desk.find("#copy").click()
    expect(desk.find("#copy")).to_have_text("Copied")
    assert desk.page.evaluate("navigator.clipboard.readText()") == "W:WKa1:BKh8"
