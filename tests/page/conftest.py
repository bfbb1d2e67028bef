"""The page in a real browser: Debian's chromium, driven by Playwright, on a server of its own.

Without a chromium these tests are skipped, but in CI they fail. `CHROMIUM` may name another one.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from needed_tools import need
from page_driver import Desk
from playwright.sync_api import expect, sync_playwright
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from flask import Flask
    from playwright.sync_api import Browser, BrowserContext

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000
"""How long a busy machine may take for what happens at once on another."""


class Quiet(WSGIRequestHandler):
    """Keeps connections, and logs no requests: there are hundreds, and one that fails is seen on the page."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Werkzeug leaves a file to the garbage collector where the browser has it already (304); the collector
    # may find it in any test.
    left = pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO name=.*/static/")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(left)


@pytest.fixture(scope="package")
def browser() -> "Iterator[Browser]":
    """The browser."""
    need(CHROMIUM, "there is no chromium: install it (apt-get install chromium) or name one in CHROMIUM")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(app: "Flask") -> Iterator[str]:
    """Where the application is served, over tables of 2-4 pieces; without a slash at its end."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def context(browser: "Browser", request: pytest.FixtureRequest) -> "Iterator[BrowserContext]":
    """A visitor: English, a desktop, nothing remembered, no animations; `@pytest.mark.parametrize` of
    `context` with a dictionary, indirectly, changes that."""
    visitor = {"locale": "en", "reduced_motion": "reduce", "viewport": {"width": 1280, "height": 900}}
    with browser.new_context(**{**visitor, **getattr(request, "param", {})}) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


@pytest.fixture
def desk(context: "BrowserContext", address: str) -> Iterator[Desk]:
    """The page, not opened yet; what it throws fails the test."""
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield Desk(page, address)
    assert errors == []
