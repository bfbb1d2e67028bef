"""A game judged: PDN pasted, opened and dropped."""

from pathlib import Path

import pytest
from page_driver import Desk
from paths import GOLDEN
from playwright.sync_api import expect

GAMES = GOLDEN / "games.pdn"
GAME = """[Event "An ending"]
[GameType "25,W,8,8,A0,0"]
[FEN "W:WKc1,Kd2,Ka3:BKe1"]

1. d2-a5 e1-f2 2. a3-c5 f2:b6 3. a5:c7 1/2-1/2
"""


def judged(desk: Desk) -> None:
    expect(desk.find("#game-result")).to_have_text(
        "White has won after 5 plies. The written result 1/2-1/2 contradicts that."
    )


def test_a_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "game.pdn").write_text(GAME)
    desk.open("view=game")
    desk.find("#pdn-file").set_input_files(tmp_path / "game.pdn")
    judged(desk)
    expect(desk.find("#game h2").nth(1)).to_have_text("An ending")
    expect(desk.find(".graph-mistake")).to_have_count(2)
    expect(desk.find("#game-mistakes li")).to_have_text(
        [
            "2. a3-c5? White: a win has become a draw. Better: a3-b2, c1-b2, and a5-c3.",
            "2… f2:b6? Black: a draw has become a loss. Better: f2:a7.",
        ]
    )
    desk.find("#game-mistakes button").first.click()
    expect(desk.find("#game-sheet [aria-current]")).to_have_text("a3-c5?")
    expect(desk.square("c5")).to_have_attribute("aria-label", "c5, white king")
    expect(desk.find("#game-clocks [data-rule=three-kings]")).to_contain_text("2 of 15 moves of White")
    desk.find("#game-analysis").click()
    expect(desk.verdict).to_have_text("A draw with best play.")
    desk.find("#back").click()
    expect(desk.verdict).to_contain_text("White wins in")


def test_the_graph_leads_to_a_ply(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn").fill(GAME)
    desk.find("#judge").click()
    judged(desk)
    expect(desk.find("#game-clocks .clock").first).to_be_visible()
    box = desk.find(".graph").bounding_box()
    assert box is not None
    desk.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    expect(desk.find("#game-sheet [aria-current]")).to_have_text("a5:c7")
    expect(desk.find("#game-verdict")).to_contain_text("White has won.")


def test_a_dropped_file(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn").wait_for()
    transfer = desk.page.evaluate_handle(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "game.pdn"));
            return data;
        }""",
        GAME,
    )
    desk.find("#game").dispatch_event("drop", {"dataTransfer": transfer})
    judged(desk)


def test_many_games(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn-file").set_input_files(GAMES)
    options = desk.find("#game-choice option")
    # The server judges for one at a time.
    options.first.wait_for(state="attached")
    answer = desk.page.request.post(f"{desk.address}/v1/game", data=GAMES.read_bytes()).json()
    assert len(answer["games"]) > 3
    expect(options).to_have_count(len(answer["games"]))
    for index, game in enumerate(answer["games"]):
        desk.find("#game-choice").select_option(str(index))
        expect(desk.find("#game-sheet .sheet-move")).to_have_count(len(game["plies"]))


def test_what_cannot_be_judged(desk: Desk) -> None:
    desk.open("view=game")
    for text, problem in (
        ("1. c3-d4 *\n" * 60, "There is no game in this text, or there are too many at once."),
        ("  ", "There is no game here yet: paste one, or open a file."),
        ("hello world", "There is no move in this text."),
        ("1-0", "There is no move in this text."),
        (GAME + ";" * 70000, "This text is too long. Judge fewer games at once."),
    ):
        desk.find("#example-game").click()
        judged(desk)
        expect(desk.find("#problem")).to_be_hidden()
        desk.find("#game summary").click()
        desk.find("#pdn").fill(text)
        desk.find("#judge").click()
        expect(desk.find("#problem")).to_have_text(problem)
        # What was judged before is not of this text.
        expect(desk.find("#game-result")).to_have_count(0)


def test_what_is_wrong_with_a_game_is_told_in_the_language_of_the_page(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn").fill("1. c3-d4 d6-c5\n2. c3-b4 *")
    desk.find("#judge").click()
    expect(desk.find("#game-problems li")).to_contain_text("Line 2: c3-b4 is no legal move there.")
    desk.find("#language").select_option("ru")
    expect(desk.find("#game-problems li")).to_contain_text("Строка 2: хода c3-b4 там нет по правилам.")
    expect(desk.find("#game-problems small")).to_have_attribute("lang", "en")


def test_squares_that_are_numbers(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn").fill("1. c3-d4 1-1")
    expect(desk.find("#game-numbering")).to_be_hidden()
    desk.find("#pdn").fill("1. 22-18 11-15 2. 18x11 8x15 1/2-1/2")
    desk.find("#judge").click()
    expect(desk.find("#problem")).to_contain_text("Choose which square is number 1.")
    desk.find("#game-numbering").select_option("b8")
    desk.find("#judge").click()
    expect(desk.find("#game-sheet .sheet-move")).to_have_text(["c3-d4", "f6-e5", "d4:f6", "g7:e5"])
    expect(desk.find("#problem")).to_be_hidden()


def test_a_judged_game_is_there_after_a_reload(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#pdn").fill(GAME)
    desk.find("#judge").click()
    desk.find("#game-mistakes button").first.click()
    expect(desk.find("#game-sheet [aria-current]")).to_have_text("a3-c5?")
    expect(desk.find("#game-clocks .clock").first).to_be_visible()
    for _ in range(2):
        desk.page.reload()
        judged(desk)
        expect(desk.find("#game-sheet [aria-current]")).to_have_text("a3-c5?")
        expect(desk.square("c5")).to_have_attribute("aria-label", "c5, white king")
        expect(desk.find("#game-clocks .clock").first).to_be_visible()
    desk.find("#game-analysis").click()
    expect(desk.verdict).to_have_text("A draw with best play.")
    desk.page.reload()
    expect(desk.verdict).to_be_visible()
    desk.find("nav [data-view=game]").click()
    judged(desk)


def test_another_ruleset_judges_anew(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#example-game").click()
    judged(desk)
    expect(desk.find("#game-clocks [data-rule=three-kings]")).to_be_visible()
    desk.find("#last").click()
    desk.find("#back").click()
    desk.find("#game summary").click()
    desk.find("#pdn").fill("1. c3-d4 another game")
    desk.find("#ruleset").select_option("club")
    expect(desk.find("#game-clocks [data-rule=three-kings]")).to_have_count(0)
    # What is being written is not lost.
    expect(desk.find("#pdn")).to_have_value("1. c3-d4 another game")
    expect(desk.find("#game-sheet [aria-current]")).to_have_text("f2:b6?")
    judged(desk)


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_a_file_of_another_encoding(desk: Desk, tmp_path: Path, encoding: str) -> None:
    event = "Окончание – «задача»"
    (tmp_path / "game.pdn").write_text(GAME.replace("An ending", event), encoding)
    desk.open("view=game")
    desk.find("#pdn-file").set_input_files(tmp_path / "game.pdn")
    judged(desk)
    expect(desk.find("#game h2").nth(1)).to_have_text(event)


def test_what_is_too_long_is_refused_at_once(desk: Desk, tmp_path: Path) -> None:
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    problem = "This text is too long. Judge fewer games at once."
    long = GAME + "{" * 300_000
    (tmp_path / "game.pdn").write_text(long)
    desk.open("view=game")
    field = desk.find("#pdn")
    field.fill("1. c3-d4")
    desk.find("#pdn-file").set_input_files(tmp_path / "game.pdn")
    expect(desk.find("#problem")).to_have_text(problem)
    desk.find("nav [data-view=analysis]").click()
    desk.find("nav [data-view=game]").click()
    expect(desk.find("#problem")).to_be_hidden()
    desk.page.evaluate(
        """text => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", text);
            document.querySelector("#pdn").dispatchEvent(new ClipboardEvent("paste", {clipboardData}));
        }""",
        long,
    )
    expect(desk.find("#problem")).to_have_text(problem)
    expect(field).to_have_value("1. c3-d4")
    field.fill(long)
    desk.find("#judge").click()
    expect(desk.find("#problem")).to_have_text(problem)
    assert not any("/v1/game" in url for url in asked)


def test_a_game_whose_position_cannot_be_read_shows_no_other(desk: Desk) -> None:
    desk.open("view=game&fen=W:WKc1,Kd2,Ka3:BKe1")
    desk.find("#pdn").fill('[FEN "garbage"]\n1. c3-d4')
    desk.find("#judge").click()
    expect(desk.find("#game-problems li").first).to_contain_text("first position cannot be read")
    for selector in ("#game-verdict", "#game-mistakes", "#game-clocks", "#board .pieces .piece"):
        expect(desk.find(selector)).to_have_count(0)
    expect(desk.find("#problem")).to_be_hidden()


def test_trying_again_judges_again(desk: Desk) -> None:
    desk.open("view=game")
    desk.page.route("**/v1/game?*", lambda route: route.abort())
    desk.find("#example-game").click()
    expect(desk.find("#problem")).to_contain_text("The server does not answer.")
    desk.page.unroute("**/v1/game?*")
    desk.find("#problem button").click()
    judged(desk)


def test_the_example_is_in_the_language_of_the_page(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#language").select_option("lv")
    desk.find("#example-game").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.find("#game h2").nth(1)).to_have_text("Galotne")
    expect(desk.find("#game-result")).to_be_focused()


@pytest.mark.parametrize(("view", "taken"), [("game", True), ("practice", False)])
def test_a_file_dropped_beside_is_never_opened_instead_of_the_page(
    desk: Desk, view: str, taken: bool
) -> None:
    desk.open(f"view={view}")
    desk.find(f"#{view} .card").first.wait_for()
    prevented = desk.page.evaluate(
        """text => ["dragover", "drop"].map(type => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "game.pdn"));
            const event = new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true});
            return !document.querySelector(".top").dispatchEvent(event);
        })""",
        GAME,
    )
    assert prevented == [True, True]
    if taken:
        judged(desk)
    else:
        expect(desk.find("#game-result")).to_have_count(0)


def test_the_counts_of_a_judged_game_are_there_under_other_rules(desk: Desk) -> None:
    desk.open("view=game&ruleset=king-moves-only")
    desk.find("#pdn").fill('[FEN "W:WKc1,Kd2,Ka3:BKe1:C0,6,3,0,1"]\n\n1. d2-a5 e1-f2 *')
    desk.find("#judge").click()
    desk.find("#game-sheet [data-ply='2']").click()
    expect(desk.find("#game-clocks [data-rule=king-moves]")).to_contain_text("2 of 30 plies")
    desk.find("#game-analysis").click()
    desk.find("#ruleset").select_option("official")
    expect(desk.find("#clocks [data-rule=three-kings]")).to_contain_text("4 of 15 moves of White")
