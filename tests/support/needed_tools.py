"""Tools that some tests need: without one a test is skipped, but in CI (the variable `CI`) it fails."""

import os

import pytest


def need(found: object, what: str) -> None:
    """Skip or fail the test if something is not `found`; `what` says what is missing, and its package."""
    if not found:
        if os.environ.get("CI"):
            pytest.fail(what, pytrace=False)
        pytest.skip(what)
