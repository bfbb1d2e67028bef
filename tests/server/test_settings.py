"""The settings of the service: where they come from, and what is refused."""

import re

import pytest
from paths import ROOT

from server.settings import PREFIX, Settings, SettingsError, load_settings

API = (ROOT / "docs" / "api.md").read_text("utf-8")


def test_caller_overrides_environment() -> None:
    environment = {"SHASHKI_CACHE_BYTES": "1000", "SHASHKI_COMPILED": "no", "SHASHKI_DATA": "x"}
    settings = load_settings({"CACHE_BYTES": 2000, "TESTING": True}, environment)
    assert (settings.cache_bytes, settings.compiled) == (2000, "no")
    assert load_settings({}, {}) == Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CACHE_BYTES", "-1"),
        ("CACHE_BYTES", "64M"),
        ("MAX_GAMES", "0"),
        ("COMPILED", "maybe"),
        ("MAX_HEAVY", ""),
    ],
)
def test_invalid_setting_is_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"the environment variable SHASHKI_{name} is '{value}': input"):
        load_settings({}, {PREFIX + name: value})
    with pytest.raises(SettingsError, match=f"the setting {name} is '{value}': input"):
        load_settings({name: value}, {})


def test_every_setting_is_documented() -> None:
    rows = dict(re.findall(r"^\| `SHASHKI_([A-Z_]+)` \| ([^|]+) \|", API, re.MULTILINE))
    documented = {name: default.strip() for name, default in rows.items() if name != "DATA"}
    assert documented == {name.upper(): str(value) for name, value in Settings()}
