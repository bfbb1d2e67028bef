"""`shashki generate --materials`: single materials, with all that they lead to and nothing else."""

from pathlib import Path

import pytest
from generating import same

from generator.materials import RunScope, pairs, with_mirror
from generator.plan import plan
from generator.run import generate
from generator.verify.verify import verify
from tablebase.board.material import Material
from tablebase.board.notation import parse_fen
from tablebase.cli.main import main
from tablebase.errors import MissingTableError
from tablebase.probe.tablebase import open_tablebase
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest

Capture = pytest.CaptureFixture[str]


def named(*names: str) -> list[Material]:
    return [Material.parse(name) for name in names]


# Men may be crowned and taken, the lone king only by the end of the game; the mirrors are made with them.
LED_TO = ["KvK", "KvM", "KKvK", "KMvK", "MMvK", "KKKvK", "KKMvK", "KMMvK"]


def test_named_materials_are_made_with_their_successors(
    tables4: Path, tmp_path: Path, capsys: Capture
) -> None:
    data = tmp_path / "data"
    command = ["generate", "--data", str(data), "--materials"]
    assert main([*command, "KvKMM, MvK"]) == 0
    assert capsys.readouterr().out.startswith("solved 15 materials")
    made = Manifest.load(data).slices
    assert set(made) == {material for pair in named(*LED_TO) for material in with_mirror(pair)}
    assert {path.name for path in data.glob("K*v*.*")} <= {path.name for path in tables4.iterdir()}
    for path in data.glob("*v*.*"):
        assert path.read_bytes() == (tables4 / path.name).read_bytes()
    assert len(list(data.glob("*v*.*"))) == sum(len(record.files) for record in made.values())
    report = verify(data)
    assert report.ok, report.findings
    assert (report.slices, report.notes) == (15, [])
    assert main([*command, "KMMvK"]) == 0
    assert capsys.readouterr().out.startswith("nothing to do: KMMvK and all that it leads to are in")
    with open_tablebase(data) as tablebase:
        assert tablebase.pieces == 0  # not all of 2 pieces: MvM is not there
        assert tablebase.probe_wdl(parse_fen("W:WKa1,c3,e3:BKh2")) is not None
        with pytest.raises(MissingTableError, match="make it with `shashki generate --materials MvM --data"):
            tablebase.probe_wdl(parse_fen("W:Wc3:Bf6"))


def test_the_rest_is_made_afterwards(tables3: Path, tmp_path: Path) -> None:
    assert generate(tmp_path, RunScope.of(named("KMvK"))).plan.scope.pieces == 3
    assert {str(pair) for pair in generate(tmp_path, 3).plan.todo} == {str(pair) for pair in pairs(3)} - {
        *LED_TO[:4],
    }
    assert same(tmp_path, tables3)


def test_a_plan_of_single_materials_takes_what_those_take() -> None:
    metrics = (Metric.WDL, Metric.DTC)
    single = plan(RunScope.of(named("KKKKKKKvK")), metrics, 2, set())
    assert {str(pair) for pair in single.todo} == {"K" * n + "vK" for n in range(1, 8)}
    assert single.positions == sum(2 * Material(n, 0, 1, 0).positions for n in range(2, 8)) + 992
    all_of_8 = plan(RunScope(8), metrics, 2, set())
    assert single.memory < all_of_8.memory / 40
    assert single.disk < all_of_8.disk / 50


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--materials", "KKK"], "'KKK' is not a material; write the side to move first"),
        (["--materials", "KvK,XvK"], "'XvK' is not a material"),
        (["--materials", ","], "no material is named; write materials like KKKvK,KKMvKM"),
        (["--materials", "KvK", "--pieces", "3"], "--pieces: not allowed with argument --materials"),
        (["--materials", "KKKKKKKKvK"], "makes tables of up to 8 pieces, and 9 were asked for"),
        (["--materials", "K" * 40 + "vK"], "no board holds the material"),
    ],
)
def test_bad_materials_are_refused(options: list[str], says: str, tmp_path: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(["generate", "--data", str(tmp_path / "data"), *options]))
    assert end.value.code == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
