"""What a visitor does at the page and sees on it, in words of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


class Desk:
    """The page of a visitor; `page` is Playwright's."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, query: str = "") -> Desk:
        """Open the page, with what the address has after its question mark."""
        self.page.goto(f"{self.address}/{'?' + query if query else ''}")
        return self

    def position(self, fen: str) -> Desk:
        """Open the page on a position."""
        return self.open(f"fen={fen}")

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    @property
    def verdict(self) -> Locator:
        return self.find("#verdict")

    def square(self, name: str) -> Locator:
        return self.find(f"[data-square={name}]")

    def move(self, *path: str) -> None:
        """Make a move by tapping its squares, once it is allowed."""
        self.find(f"[data-square={path[0]}].movable").click()
        for square in path[1:]:
            self.find(f"[data-square={square}][data-state=target]").click()

    def drag(self, start: str, end: str) -> None:
        """Drag a piece from a square to another."""
        self.find(f"[data-square={start}].movable").wait_for()
        self.page.mouse.move(*self.centre(start))
        self.page.mouse.down()
        self.page.mouse.move(*self.centre(end), steps=4)
        self.page.mouse.up()

    def centre(self, square: str) -> tuple[float, float]:
        """Where the middle of a square is in the window."""
        box = self.square(square).bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the address."""
        query: str = self.page.evaluate("location.search.slice(1)")
        return {name: value for name, (value,) in parse_qs(query).items()}

    def ask(self, path: str, **parameters: str) -> Any:
        """What the API answers."""
        response = self.page.request.get(self.address + path, params=parameters)
        assert response.ok
        return response.json()

    def best_path(self) -> list[str]:
        """The squares of the best move in the position on the board."""
        path: list[str] = self.ask("/v1/position", fen=self.find("#fen").input_value())["moves"][0]["path"]
        return path
