"""`shashki verify` on tables that the generator made: what is wrong is named, and what to do about it."""

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from generating import same

from generator.run import generate
from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves
from tablebase.cli.main import main
from tablebase.tables.format import Metric, table_name, write_table
from tablebase.tables.index import sets_at
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

Capture = pytest.CaptureFixture[str]


def verify_fails(directory: Path, capsys: Capture) -> str:
    assert main(["verify", "--data", str(directory)]) == 1
    answer = capsys.readouterr()
    assert "NOT in order" in answer.out
    assert answer.err.startswith("shashki: ")
    assert answer.err.count("\n") == 1
    return answer.err


def position_at(material: Material, index: int) -> Position:
    own_men, own_kings, other_men, other_kings = sets_at(material, index)
    return Position(own_men, own_kings, other_men, other_kings)


def test_advice_on_wrong_statistics_repairs_them(copy3: Path, tables3: Path, capsys: Capture) -> None:
    material = Material.parse("KKvM")
    manifest = Manifest.load(copy3)
    record = manifest.slices[material]
    assert record.statistics is not None
    manifest.slices[material] = replace(record, statistics=replace(record.statistics, win=7))
    manifest.save(copy3)
    message = verify_fails(copy3, capsys)
    assert "the statistics of KKvM are wrong: win is 7 in the manifest" in message
    advice = re.search(r"; delete (.*), and run `(.*)`$", message.strip())
    assert advice is not None
    for name in advice[1].split(", "):
        (copy3 / name).unlink()
    program, *command = shlex.split(advice[2])
    assert program == "shashki"
    assert main(command) == 0
    assert same(copy3, tables3)


@pytest.mark.parametrize("command", ["verify", "stats", "records"])
def test_missing_directory_exits_with_2(command: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("no directory")
    missing, file = tmp_path / "nowhere", tmp_path / "file"
    for path, message in (
        (missing, f"there is no directory {missing}"),
        (file, f"{file} is not a directory"),
    ):
        assert main([command, "--data", str(path)]) == 2
        assert message in capsys.readouterr().err


def test_seed_needs_a_number_and_a_sample(copy3: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main(["verify", "--data", str(copy3), "--sample", "--seed", "-1"])
    assert left.value.code == 2
    assert "'-1' is not a seed" in capsys.readouterr().err
    assert main(["verify", "--data", str(copy3), "--seed", "1"]) == 2
    assert "--seed requires --sample" in capsys.readouterr().err


def test_verify_with_little_memory(copy3: Path, capsys: Capture) -> None:
    assert main(["verify", "--data", str(copy3), "--memory", "100K"]) == 1
    answer = capsys.readouterr()
    assert answer.out == ""
    assert re.fullmatch(
        r"shashki: comparing all .* of memory, but the limit is 100 KB; allow more .*\n", answer.err
    )
    assert main(["verify", "--data", str(copy3), "--memory", "100K", "--sample"]) == 0
    answer = capsys.readouterr()
    assert re.match(
        r"note: all values take about .*, but the limit is 100 KB: the sample was read", answer.out
    )
    assert answer.out.endswith(": all that was checked is well\n")
    assert answer.err == ""


def test_verify_with_notes_does_not_say_all_is_well(tmp_path: Path, capsys: Capture) -> None:
    generate(tmp_path, 2, [Metric.WDL])
    assert main(["verify", "--data", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "note: without .dtc and .dtw tables outcomes were only compared with each other" in out
    assert out.endswith(": all that was checked is well\n")


def test_verify_passes(copy3: Path, capsys: Capture) -> None:
    assert main(["verify", "--data", str(copy3)]) == 0
    answer = capsys.readouterr()
    assert "16 materials, 199,520 positions, 50 files" in answer.out
    assert "all is well" in answer.out
    assert answer.err == ""


@pytest.mark.parametrize(("metric", "value"), [(Metric.WDL, 0), (Metric.DTC, 17), (Metric.DTW, 40)])
def test_verify_names_a_changed_value(metric: Metric, value: int, copy3: Path, capsys: Capture) -> None:
    """One quiet value, with every checksum made right again."""
    material = Material.parse("KKvM")
    path = copy3 / table_name(material, metric)
    with Table(path) as table, Table(copy3 / "KKvM.wdl") as outcomes:
        stored = table.read_all()
        won = (outcomes.read_all() == 2).nonzero()[0].tolist()
    quiet = ((index, position_at(material, index)) for index in won[len(won) // 3 :])
    index, position = next(found for found in quiet if not legal_moves(found[1])[0].is_capture)
    stored[index] = value
    manifest = Manifest.load(copy3)
    manifest.slices[material].files[metric] = write_table(
        path, material, metric, manifest.ruleset, stored, generator_version="test"
    )
    manifest.save(copy3)
    message = verify_fails(copy3, capsys)
    for part in (f"KKvM.{metric}", str(index), position.to_fen()):
        assert part in message


def test_verify_names_a_file_with_a_changed_byte(copy3: Path, capsys: Capture) -> None:
    path = copy3 / "MMvK.dtw"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert str(path) in verify_fails(copy3, capsys)


def test_verify_names_a_file_of_another_length(copy3: Path, capsys: Capture) -> None:
    path = copy3 / "MMvK.dtw"
    size = path.stat().st_size
    os.truncate(path, size - 3)
    assert f"{path} has {size - 3} bytes, but the manifest says {size}" in verify_fails(copy3, capsys)
