"""For everyone: languages, phones, the keyboard alone, screen readers, light and dark."""

import re
from typing import Any

import pytest
from axe_playwright_python import sync_playwright as axe
from page_driver import Desk
from playwright.sync_api import expect

FEN = "W:WKc1,Kf8,Kh2:BKa7"
VIEWS = ["", "view=practice", "view=game", "view=statistics&material=KKMvK"]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
VERDICTS = {
    "en": "White wins in 11 moves; the three-kings rule allows 15.",
    "ru": "Белые выигрывают за 11 ходов; правило трёх дамок даёт 15.",
    "lv": "Baltie uzvar 11 gājienos; triju dāmu noteikums atļauj 15.",
}


def settled(desk: Desk, view: str) -> None:
    """Open a view, and wait for what it asks the server."""
    desk.open(f"{view}&fen={FEN}")
    for name, selector in (("practice", "#practice-class option[value=any]"), ("statistics", "#longest")):
        if name in view:
            desk.find(selector).first.wait_for(state="attached")
    if "game" in view:
        desk.find("#example-game").click()
        desk.find("#game-clocks .clock").first.wait_for()
    if not view:
        desk.find(".move").first.wait_for()


@pytest.mark.parametrize(
    ("context", "language"),
    [({"locale": locale}, locale[:2]) for locale in ("en-GB", "ru-RU", "lv-LV")]
    + [({"locale": "de-DE"}, "en")],
    indirect=["context"],
)
def test_the_language_of_the_browser(desk: Desk, language: str) -> None:
    desk.position(FEN)
    expect(desk.verdict).to_have_text(VERDICTS[language])
    expect(desk.find("html")).to_have_attribute("lang", language)


def test_another_language_is_remembered(desk: Desk) -> None:
    desk.position(FEN)
    expect(desk.verdict).to_have_text(VERDICTS["en"])
    for language in ("ru", "lv"):
        desk.find("#language").select_option(language)
        expect(desk.verdict).to_have_text(VERDICTS[language])
    desk.open("view=practice")
    expect(desk.find("#practice-start")).to_have_text("Sākt")
    expect(desk.square("a1")).to_have_attribute("aria-label", re.compile("balta dāma|tukšs"))


def test_the_languages_have_the_same_messages(desk: Desk) -> None:
    desk.open()
    messages: dict[str, Any] = desk.page.evaluate(
        """Promise.all(["en", "ru", "lv"].map(async name =>
            [name, (await import(`/static/lang/${name}.js`)).default])).then(Object.fromEntries)"""
    )
    plurals = {name: set(desk.page.evaluate(CATEGORIES, name)) for name in messages}
    english = dict(flat(messages["en"]))
    assert len(english) > 150
    for name, found in messages.items():
        texts = dict(flat(found))
        assert texts.keys() == english.keys(), name
        for key, text in texts.items():
            assert holes(text) == holes(english[key]), (name, key)
            if isinstance(text, dict) and name == "ru":
                assert plurals[name] == set(text), key
            elif isinstance(text, dict):
                assert {"one", "other"} <= set(text) <= plurals[name], key


CATEGORIES = "name => new Intl.PluralRules(name).resolvedOptions().pluralCategories"
FORMS = {"zero", "one", "few", "many", "other"}


def flat(messages: dict[str, Any], prefix: str = "") -> Any:
    """Every message with its name; one with forms is a dictionary."""
    for name, message in messages.items():
        if isinstance(message, dict) and not set(message) <= FORMS:
            yield from flat(message, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", message


def holes(message: str | dict[str, str]) -> set[str]:
    """The values that a message names, those of all its forms."""
    texts = [message] if isinstance(message, str) else message.values()
    return {hole for text in texts for hole in re.findall(r"\{(\w+)\}", text)}


@pytest.mark.parametrize("context", [PHONE], indirect=True)
@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_scrolling_sideways(desk: Desk, view: str) -> None:
    settled(desk, view)
    if not view:
        desk.find("#best-line").click()
        desk.find("#line-end").wait_for()
    for language in VERDICTS:
        desk.find("#language").select_option(language)
        expect(desk.find("html")).to_have_attribute("lang", language)
        for width in (320, 360):
            desk.page.set_viewport_size({"width": width, "height": 740})
            assert desk.page.evaluate("document.documentElement.scrollWidth") == width, language
            assert desk.page.evaluate(CUT_OFF) == [], (language, width)


CUT_OFF = """() => {
    const seen = element => element.checkVisibility() && !element.closest(".unseen, svg");
    const pen = document.createElement("canvas").getContext("2d");
    const whole = [...document.querySelectorAll(".whole-choice")].filter(seen).map(each => each.textContent);
    const isCut = select => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(select);
        const text = select.selectedOptions[0]?.textContent ?? "", arrow = 16;
        const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
        pen.font = font;
        return pen.measureText(text).width > room && !whole.includes(text);
    };
    const isOut = element => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && (left < -0.5 || right > innerWidth + 0.5);
    };
    const keepsIn = element => element.tagName === "TH" || getComputedStyle(element).overflowX !== "visible";
    const scrolls = element => element.scrollWidth > element.clientWidth + 1 && element.tagName !== "INPUT"
        && keepsIn(element);
    return [...document.querySelectorAll("body *")].filter(seen)
        .filter(each => isOut(each) || scrolls(each) || (each.tagName === "SELECT" && isCut(each)))
        .map(each => each.id || each.className || each.tagName);
}"""
"""What is cut off at the side of the page or of its box, or is a list that shows only a part of its text."""


OVER_THE_EDGE = """() =>
    [...document.querySelectorAll(".material-button, .materials td, .counts :is(th, td)")].filter(element => {
        const range = document.createRange(), cell = element.closest("th, td").getBoundingClientRect();
        range.selectNodeContents(element);
        const { left, right } = range.getBoundingClientRect();
        const card = element.closest(".card").getBoundingClientRect();
        return left < cell.left - 0.5 || right > Math.min(cell.right, card.right) + 0.5;
    }).map(element => element.textContent)"""


def test_large_numbers_and_many_pieces_have_room_on_a_phone(desk: Desk) -> None:
    materials = desk.ask("/v1/materials")
    detail = desk.ask("/v1/materials/KKMvK")
    for each in materials["materials"]:
        if each["pieces"] == 4:
            each.update(material=each["material"].replace("v", "KKv"), pieces=6, longest_win_plies=155)
    counts = {"win": 1184569960, "cursed_win": 2, "draw": 387374960, "blessed_loss": 300, "loss": 1000000098}
    detail.update(counts, positions=sum(counts.values()))
    desk.page.route("**/v1/materials", lambda route: route.fulfill(json=materials))
    desk.page.route("**/v1/materials/*", lambda route: route.fulfill(json=detail))
    desk.open("view=statistics&material=KKMvK&pieces=6")
    desk.find("#longest").wait_for()
    for language, told in (("en", "positions"), ("ru", "позиций"), ("lv", "pozīciju")):
        desk.find("#language").select_option(language)
        expect(desk.find("#material-detail .faint").first).to_contain_text(f"320 {told}")
        expect(desk.find(".counts td").nth(3)).to_have_text(re.compile(r"^<0[.,]001\s?%$"))
        for width in (320, 340):
            desk.page.set_viewport_size({"width": width, "height": 740})
            assert desk.page.evaluate(OVER_THE_EDGE) == [], (language, width)


@pytest.mark.parametrize("context", [PHONE], indirect=True)
def test_a_move_by_finger(desk: Desk) -> None:
    desk.position(FEN)
    desk.find("[data-square=f8].movable").tap()
    desk.find("[data-square=g7][data-state=target]").tap()
    expect(desk.find("#turn")).to_have_text("Black to move")
    box = desk.find("#board").bounding_box()
    assert box is not None
    assert box["width"] > 330


def test_by_keyboard_alone(desk: Desk) -> None:
    desk.position("W:WKc1,a1:BKh8")
    expect(desk.verdict).to_be_visible()
    press = desk.page.keyboard.press
    for _ in range(20):
        press("Tab")
        if desk.page.evaluate("document.activeElement.dataset.square"):
            break
    expect(desk.square("a1")).to_be_focused()
    press("ArrowRight")
    expect(desk.square("c1")).to_be_focused()
    press("Enter")
    expect(desk.square("c1")).to_have_attribute("aria-label", "c1, white king, chosen")
    press("ArrowUp")
    expect(desk.square("d2")).to_be_focused()
    expect(desk.square("d2")).to_have_attribute("aria-label", "d2, empty, can be reached")
    press("Space")
    expect(desk.find("#turn")).to_have_text("Black to move")
    expect(desk.square("d2")).to_have_attribute("aria-label", "d2, white king")
    # Only one square takes part in going round with Tab; the first button after the board leads back.
    press("Tab")
    press("Enter")
    expect(desk.find("#turn")).to_have_text("White to move")
    assert desk.find("[data-square][tabindex='0']").count() == 1


def test_keys_that_step_wherever_the_keyboard_is(desk: Desk) -> None:
    desk.position(FEN)
    desk.move("f8", "g7")
    turn, press = desk.find("#turn"), desk.page.keyboard.press
    expect(turn).to_have_text("Black to move")
    desk.square("g7").focus()
    press("ArrowLeft")
    expect(desk.square("e7")).to_be_focused()
    expect(turn).to_have_text("Black to move")
    for back, forward in ((",", "."), ("Comma", "Period")):
        press(back)
        expect(turn).to_have_text("White to move")
        press(forward)
        expect(turn).to_have_text("Black to move")
    expect(desk.square("e7")).to_be_focused()
    # Where texts are written they are what they say.
    desk.find("#fen").focus()
    press("End")
    press(",")
    expect(desk.find("#fen")).to_have_value(re.compile(",$"))
    expect(turn).to_have_text("Black to move")
    desk.find(".legend summary").last.click()
    expect(desk.find("#examples")).to_contain_text("The keys “,” and “.” step back and forward")


def test_set_up_and_moves_by_keyboard(desk: Desk) -> None:
    desk.position("W:WKa1:BKh8")
    expect(desk.verdict).to_be_visible()
    desk.find("#set-up").focus()
    press = desk.page.keyboard.press
    press("Enter")
    press("Tab")
    press("ArrowRight")
    expect(desk.page.get_by_role("radio", name="white king")).to_be_focused()
    desk.square("a1").focus()
    press("ArrowRight")
    press("Enter")
    expect(desk.find("#fen")).to_have_value("W:WKa1,Kc1:BKh8")
    desk.find("#done").focus()
    press("Enter")
    expect(desk.find("#set-up")).to_be_focused()
    expect(desk.find("#analysis.late")).to_have_count(0)
    desk.find(".move").first.focus()
    press("Enter")
    expect(desk.find("#turn")).to_have_text("Black to move")
    # The keyboard stays in the list, on the best answer now.
    expect(desk.find("#analysis.late")).to_have_count(0)
    expect(desk.find(".move").first).to_be_focused()
    press("Enter")
    expect(desk.find("#turn")).to_have_text("White to move")


def test_the_keyboard_keeps_its_place(desk: Desk) -> None:
    desk.open("view=game")
    desk.find("#example-game").click()
    desk.find("#game-sheet [data-ply='2']").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.square("f2")).to_have_attribute("aria-label", "f2, black king")
    expect(desk.find("#game-clocks .clock").first).to_be_visible()
    expect(desk.find("#game-sheet [data-ply='2']")).to_be_focused()


@pytest.mark.parametrize("context", [{"color_scheme": scheme} for scheme in ("light", "dark")], indirect=True)
def test_the_colours_are_those_of_the_system_unless_chosen(desk: Desk) -> None:
    desk.open()
    paper = "getComputedStyle(document.body).backgroundColor"
    before = desk.page.evaluate(paper)
    desk.find("#theme").click()
    chosen = desk.page.evaluate(paper)
    assert chosen != before
    desk.page.reload()
    assert desk.page.evaluate(paper) == chosen
    desk.find("#theme").click()
    assert desk.page.evaluate(paper) == before


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_serious_fault(desk: Desk, view: str) -> None:
    settled(desk, view)
    if not view:
        desk.find("#set-up").click()
        desk.find("#best-line").click()
        desk.find("#line-end").wait_for()
    for scheme in ("light", "dark"):
        desk.page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(desk.page).response
        faults = [
            (scheme, fault["id"], [node["target"] for node in fault["nodes"]])
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
        assert faults == []
        assert len(found["passes"]) > 10
