"""Statistics of the materials."""

from typing import Any

import pytest
from page_driver import Desk
from playwright.sync_api import Route, expect


def test_a_material_and_its_longest_win(desk: Desk) -> None:
    desk.open("view=statistics")
    materials = desk.ask("/v1/materials")["materials"]
    expect(desk.find(".materials tbody tr")).to_have_count(
        sum(material["pieces"] == 4 for material in materials)
    )
    desk.find("[data-material=KKMvK]").click()
    expect(desk.find("#material-detail")).to_contain_text("377,580 positions")
    expect(desk.find("#material-detail .outcome-bar")).to_have_attribute("aria-label", "win 89%, draw 11%")
    assert desk.parameters["material"] == "KKMvK"
    longest = desk.find("[data-longest=dtw_win]")
    expect(longest).to_have_text("The longest win on the board, without draw rules: 24 moves (47 plies)")
    longest.click()
    expect(desk.verdict).to_have_text("White wins in 24 moves.")


def test_histograms_tell_every_win(desk: Desk) -> None:
    desk.open("view=statistics&material=KKKvK")
    expect(desk.find("#material-detail h2")).to_contain_text("KKKvK")
    expect(desk.find(".chart-bar")).to_have_count(13)
    desk.find("#logarithmic").check()
    expect(desk.find(".chart-bar")).to_have_count(13)
    desk.find("#histogram-choice").select_option("dtc_win")
    expect(desk.find(".histogram")).to_have_attribute(
        "aria-label", "Wins by moves to a capture or man's move"
    )


def test_other_numbers_of_pieces(desk: Desk) -> None:
    desk.open("view=statistics")
    desk.find("[data-pieces='2']").click()
    expect(desk.find(".materials tbody tr")).to_have_count(4)
    expect(desk.find("[data-pieces='2']")).to_be_focused()


def test_what_is_seen_is_in_the_address(desk: Desk) -> None:
    desk.open("view=statistics")
    desk.find("[data-material=KKMvK]").click()
    expect(desk.find("#material-detail h2")).to_contain_text("KKMvK")
    desk.find("[data-pieces='3']").click()
    assert desk.parameters == {
        "view": "statistics",
        "fen": desk.parameters["fen"],
        "material": "KKMvK",
        "pieces": "3",
    }
    desk.page.reload()
    expect(desk.find("#material-detail h2")).to_contain_text("KKMvK")
    expect(desk.find("[data-pieces='3']")).to_have_attribute("aria-pressed", "true")
    expect(desk.find("[data-material=KMvK]")).to_be_visible()
    expect(desk.find("[data-material=KKMvK]")).to_have_count(0)


def test_tables_without_histograms(desk: Desk) -> None:
    def uncounted(route: Route) -> None:
        answer = route.fetch().json()
        answer["histograms"] = dict.fromkeys(answer["histograms"])
        route.fulfill(json=answer)

    desk.page.route("**/v1/materials/KKMvK", uncounted)
    desk.open("view=statistics&material=KKMvK")
    expect(desk.find("#uncounted code")).to_have_text("shashki generate --replace --pieces 4")
    expect(desk.find(".histogram")).to_have_count(0)


def test_the_command_makes_tables_of_the_same_kind(desk: Desk) -> None:
    def material(name: str, *metrics: str) -> dict[str, Any]:
        mirror = "v".join(reversed(name.split("v")))
        return {"material": name, "mirror": mirror, "pieces": len(name) - 1, "metrics": metrics}

    command = "async all => (await import('/static/views/statistics.js')).generateCommand(all)"
    small = [material("KvK", "wdl", "dtc"), material("KvM", "wdl", "dtc"), material("MvK", "wdl", "dtc")]
    large = [material("KKKvM", "wdl", "dtc", "dtw"), material("MvKKK", "wdl", "dtc", "dtw")]
    desk.open()
    for all_, wanted in (
        ({"pieces": 2, "ruleset": "official", "materials": small}, "--pieces 2 --metrics wdl,dtc"),
        (
            {"pieces": 2, "ruleset": "king-moves-only", "materials": small + large},
            "--materials KKKvM --ruleset king-moves-only",
        ),
    ):
        assert desk.page.evaluate(command, all_) == f"shashki generate --replace {wanted}"


def test_the_rules_of_the_tables_have_their_name(desk: Desk) -> None:
    desk.open("view=statistics")
    desk.find("#language").select_option("ru")
    expect(desk.find("#statistics")).to_contain_text("правила: Официальные (FMJD-64).")


def test_a_material_without_tables(desk: Desk) -> None:
    desk.open("view=statistics&material=KKKKvKKK")
    expect(desk.find("#problem")).to_contain_text("KKKKvKKK")


@pytest.mark.parametrize("asked", ["**/v1/materials", "**/v1/materials/KKMvK"])
def test_trying_again_asks_again(desk: Desk, asked: str) -> None:
    desk.page.route(asked, lambda route: route.abort())
    desk.open("view=statistics&material=KKMvK")
    expect(desk.find("#problem")).to_contain_text("The server does not answer.")
    desk.page.unroute(asked)
    desk.find("#problem button").click()
    expect(desk.find("#material-detail h2")).to_contain_text("KKMvK")
    expect(desk.find("#problem")).to_be_hidden()
