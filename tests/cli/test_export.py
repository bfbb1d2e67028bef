"""All positions of a material with their values, as files for NumPy and as Parquet."""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tablebase import Material, Metric, MissingTableError, Position, Tablebase, open_tablebase
from tablebase.cli.main import main
from tablebase.export import SETS, Export, npy_parts, parquet_parts, row_type

DISTANCES = (Metric.DTC, Metric.DTW, Metric.DTB)
MATERIALS = ("KvK", "KvM", "MvK", "MvM", "KMvK", "MMvM", "MvKK")


@pytest.fixture(scope="module")
def tablebase(tables3: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables3, compiled=False) as opened:
        yield opened


@pytest.mark.parametrize("name", MATERIALS)
def test_rows_equal_probes(tablebase: Tablebase, name: str) -> None:
    material = Material.parse(name)
    export = Export(tablebase, material, DISTANCES)
    rows = np.concatenate(list(export.chunks(1000)))
    assert (rows.shape, rows.dtype, export.unknown) == ((material.positions,), row_type(DISTANCES), 0)
    assert len(np.unique(rows[list(SETS)])) == material.positions
    for row in rows[:: max(1, len(rows) // 500)]:
        *sets, wdl, dtc, dtw, dtb = row.tolist()
        position = Position(*sets)
        assert Material.of(position) == material
        probe = tablebase.probe(position)
        assert wdl == probe.wdl
        assert [dtc, dtw, dtb] == [
            -1 if plies is None else plies for plies in (probe.dtc, probe.dtw, probe.dtb)
        ]


def test_chunk_size(tablebase: Tablebase) -> None:
    material = Material.parse("KvK")
    sizes = [len(chunk) for chunk in Export(tablebase, material, ()).chunks(300)]
    assert sizes == [300, 300, 300, 92]


def test_only_wanted_columns(tablebase: Tablebase) -> None:
    (chunk,) = Export(tablebase, Material.parse("KvK"), (Metric.DTW,)).chunks()
    assert chunk.dtype.names == (*SETS, "wdl", "dtw")
    assert chunk.dtype.itemsize == 4 * 4 + 1 + 2


def test_a_material_without_a_table_is_refused(tablebase: Tablebase) -> None:
    with pytest.raises(MissingTableError, match="KKvKK"):
        next(Export(tablebase, Material.parse("KKvKK"), ()).chunks())


def test_unknown_values_are_counted(copy3: Path) -> None:
    for path in copy3.glob("*.dtw"):
        path.unlink()
    with open_tablebase(copy3, compiled=False) as tablebase:
        export = Export(tablebase, Material.parse("KvK"), (Metric.DTC, Metric.DTW))
        (chunk,) = export.chunks()
    assert export.unknown == np.count_nonzero(chunk["dtw"] == -128) > 0
    assert (chunk["dtc"] >= -1).all()


# Files


def rows_of(tablebase: Tablebase, name: str, size: int) -> Iterator[np.ndarray]:
    return Export(tablebase, Material.parse(name), DISTANCES).chunks(size)


def test_a_file_for_numpy_can_be_mapped(tablebase: Tablebase, tmp_path: Path) -> None:
    kind = row_type(DISTANCES)
    path = tmp_path / "rows.npy"
    path.write_bytes(b"".join(npy_parts(rows_of(tablebase, "KMvK", 5000), 26_040, kind, {})))
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    assert (mapped.shape, mapped.dtype) == ((26_040,), kind)
    assert (mapped == np.concatenate(list(rows_of(tablebase, "KMvK", 1 << 16)))).all()


def test_a_file_of_parquet(tablebase: Tablebase) -> None:
    pytest.importorskip("pyarrow", exc_type=ImportError)
    import pyarrow
    import pyarrow.parquet

    about = {"material": "KMvK", "ruleset": "official"}
    parts = list(parquet_parts(rows_of(tablebase, "KMvK", 5000), 26_040, row_type(DISTANCES), about))
    assert len(parts) == 7
    file = pyarrow.parquet.ParquetFile(io.BytesIO(b"".join(parts)))
    assert (file.num_row_groups, file.metadata.num_rows) == (6, 26_040)
    table = file.read()
    assert table.schema.metadata == {b"material": b"KMvK", b"ruleset": b"official"}
    types = [pyarrow.uint32()] * 4 + [pyarrow.int8()] + [pyarrow.int16()] * 3
    assert [(field.type, field.nullable) for field in table.schema] == [(kind, False) for kind in types]
    rows = np.concatenate(list(rows_of(tablebase, "KMvK", 1 << 16)))
    assert all((table[name].to_numpy() == rows[name]).all() for name in rows.dtype.names)


# The command


@pytest.fixture
def run(tables3: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs `shashki export`; gives status, stdout and stderr."""
    monkeypatch.setenv("SHASHKI_DATA", str(tables3))

    def run(*argv: str | Path) -> tuple[int, str, str]:
        try:
            status = main(["export", *map(str, argv)])
        except SystemExit as end:
            status = int(end.code or 0)
        return status, *capsys.readouterr()

    return run


def test_export(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "KvK.npy"
    status, out, err = run("KvK", "--format", "npy", "--output", path, "--metrics", "dtc")
    size = path.stat().st_size
    assert (status, err) == (0, "")
    assert out == f"KvK: 992 positions with wdl, dtc, {size:,} bytes in {path}\n"
    assert np.load(path)["wdl"].tolist().count(2) == 194
    assert [file.name for file in tmp_path.iterdir()] == ["KvK.npy"]


def test_failed_export_keeps_the_old_file(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "old"
    path.write_text("old")
    missing = tmp_path / "none" / "x"
    for material, output, status, message in (
        ("KKKvK", path, 1, "KKKvK"),
        ("KvX", path, 2, "KvX"),
        ("KvK", missing, 1, f"{missing}: there is no directory {missing.parent}; make it first"),
        ("KvK", tmp_path, 1, f"{tmp_path}: this is a directory; name a file to write"),
        ("KvK", "", 1, ".: this is a directory"),
        ("KvK", "..", 1, "..: this is a directory"),
    ):
        found, out, err = run(material, "--format", "npy", "--output", output)
        assert (found, out) == (status, "")
        assert err.startswith("shashki: ")
        assert message in err
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["old"]
    assert run("KvK", "--format", "npy", "--output", path, "--data", missing)[0] == 2
    assert run("KvK", "--format", "csv", "--output", path)[0] == 2


def test_devices_and_pipes_are_not_replaced(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The whole file is renamed to the name asked for: so never /dev/stdout, which would be gone."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        status, out, err = run("KvK", "--format", "npy", "--output", path)
        assert (status, out) == (1, "")
        assert err.startswith(f"shashki: {path}: this is a device or a pipe; ")
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_a_link_is_followed(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path, link = tmp_path / "KvK.npy", tmp_path / "link"
    link.symlink_to(path)
    for _ in range(2):
        assert run("KvK", "--format", "npy", "--output", link)[0] == 0
        assert link.is_symlink()
        assert len(np.load(path)) == 992
    link.unlink()
    link.symlink_to(tmp_path / "none" / "x")
    status, _, err = run("KvK", "--format", "npy", "--output", link)
    assert (status, f"there is no directory {tmp_path / 'none'}; make it first" in err) == (1, True)


def test_parquet_without_pyarrow_says_what_it_needs(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, out, err = run("KvK", "--format", "parquet", "--output", tmp_path / "x")
    assert (status, out) == (2, "")
    assert err.startswith("shashki: `export` needs the package pyarrow, which is not installed; ")
    assert "pip install '.[export]'" in err
    assert not list(tmp_path.iterdir())
