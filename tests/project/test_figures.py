"""`benchmarks/figures.py`: the numbers it collects, and the plots it makes of them."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from paths import ROOT

from tablebase.board.material import materials

BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))

from figures import printed_tables  # noqa: E402
from plot import line_plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def test_figures_of_3_pieces(tables3: Path, tmp_path: Path) -> None:
    output, plots = tmp_path / "out" / "figures.json", tmp_path / "plots"
    options = ["--pieces", "3", "--scripts", "", "--output", str(output), "--plots", str(plots)]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "figures.py"), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(output.read_text("utf-8"))
    assert [row["pieces"] for row in found["by_pieces"]] == [2, 3]
    for row in found["by_pieces"]:
        every = list(materials(row["pieces"]))
        assert row["positions"] == sum(material.positions for material in every)
        assert row["seconds"] > 0
        rate = row["positions"] / row["positions_per_second"]
        assert rate == pytest.approx(row["seconds"], rel=0.01, abs=0.001)
        for metric, bits in row["bits_per_position"].items():
            there = [m for m in every if (tables3 / f"{m}.{metric}").exists()]
            size = sum((tables3 / f"{m}.{metric}").stat().st_size for m in there)
            assert bits == pytest.approx(8 * size / sum(m.positions for m in there), abs=1e-4)
        assert ("dtb" in row["bits_per_position"]) == (row["pieces"] == 3)
    assert sorted(path.name for path in plots.iterdir()) == ["rate.svg", "size.svg"]
    names = [text.text for text in ElementTree.parse(plots / "size.svg").iter(f"{SVG}text")]
    assert names[-4:] == ["WDL", "DTC", "DTW", "DTB"]
    assert [path.name for path in output.parent.iterdir()] == ["figures.json"], "tables are removed again"


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_plot_has_a_point_for_each_number_and_keeps_their_order(logarithmic: bool) -> None:
    values = [(2, 0.5), (3, 30.0), (4, 8.0), (5, 1234.5)]
    text = line_plot("a < b", "x", "y", {"one": values, "two": values[1:]}, logarithmic)
    points = list(ElementTree.fromstring(text).iter(f"{SVG}circle"))
    assert len(points) == 7
    across = [float(point.attrib["cx"]) for point in points[:4]]
    heights = [-float(point.attrib["cy"]) for point in points[:4]]
    assert across == sorted(across)
    assert sorted(range(4), key=heights.__getitem__) == sorted(range(4), key=lambda n: values[n][1])
    assert all(50 <= -height <= 345 for height in heights)
    assert heights[1:] == [-float(point.attrib["cy"]) for point in points[4:]]


def test_tables_are_read_as_they_are_printed() -> None:
    text = "so\n| a | b |\n| --- | ---: |\n| 1 | 2,000 |\n| x | |\nand\n\n| c |\n| --- |\n| 3 |"
    assert list(printed_tables(text.splitlines())) == [
        [{"a": "1", "b": "2,000"}, {"a": "x", "b": ""}],
        [{"c": "3"}],
    ]
