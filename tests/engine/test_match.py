"""The engine against the alpha-beta player of py-draughts: every win is won, every draw held."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from paths import ROOT

NEEDS = "py-draughts>=1.8.4"  # wrong in this game before; its module has the name of pydraughts'


@pytest.mark.whole
def test_the_engine_wins_what_is_won_and_holds_what_is_drawn(tables5: Path, tmp_path: Path) -> None:
    """Needs the network, or what pip has in its place: the player gets an environment of its own."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", NEEDS], check=True, timeout=600)
    options = ["--data", tables5, "--won", "100", "--drawn", "100", "--depth", "4", "--seed", "7"]
    played = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "match.py", "--opponent", python, *options],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "won endings: 100 games, 100 won, 0 drawn, 0 lost" in played.stdout
    assert "drawn endings: 100 games" in played.stdout
