"""The generator where tables are already, damaged or of another kind: what it keeps, makes again, refuses."""

import json
from pathlib import Path

import pytest
from generating import contents, same

from generator.errors import IncompatibleTablesError
from generator.lock import FILE_NAME as LOCK
from generator.plan import Plan
from generator.progress import Progress
from generator.run import generate
from tablebase.board.material import Material
from tablebase.cli.main import main
from tablebase.rules.rulesets import KING_MOVES_ONLY, RULESETS, Ruleset

Capture = pytest.CaptureFixture[str]


class Watching(Progress):
    """Notes what a run solves and reads back."""

    def __init__(self) -> None:
        self.solved_pairs: list[str] = []
        self.notes: list[str] = []

    def replacing(self, note: str) -> None:
        self.notes.append(note)

    def material(self, pair: Material, restoring: bool) -> None:
        if not restoring:
            self.solved_pairs.append(str(pair))

    def begin(self, plan: Plan) -> None:
        self.plan = plan


@pytest.mark.parametrize("damage", ["lost", "short", "empty", "long"])
@pytest.mark.parametrize("name", ["KKvM.dtw", "MvKM.wdl", "KvK.dtc"])
def test_changed_file_is_made_again(name: str, damage: str, copy3: Path, tables3: Path) -> None:
    path = copy3 / name
    content = path.read_bytes()
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes({"short": content[:-1], "empty": b"", "long": content + b"\0"}[damage])
    times = {path.name: path.stat().st_mtime_ns for path in copy3.iterdir()}
    watching = Watching()
    generate(copy3, 3, progress=watching)
    assert watching.notes == []
    assert watching.solved_pairs == [{"KKvM.dtw": "KKvM", "MvKM.wdl": "KMvM", "KvK.dtc": "KvK"}[name]]
    assert same(copy3, tables3)
    pair = {watching.solved_pairs[0], str(Material.parse(watching.solved_pairs[0]).mirror)}
    for path in copy3.iterdir():
        rewritten = path.name in (LOCK, "manifest.json") or path.stem in pair
        assert (path.stat().st_mtime_ns == times.get(path.name)) != rewritten, path


def test_a_damaged_table_that_is_needed_is_named(copy3: Path, capsys: Capture) -> None:
    path = copy3 / "KKvM.dtw"
    content = bytearray(path.read_bytes())
    content[-20] ^= 0x55
    path.write_bytes(content)
    assert main(["generate", "--data", str(copy3), "--pieces", "4"]) == 1
    err = capsys.readouterr().err
    assert f"{path} is damaged: frame" in err
    assert "delete the file and generate it again" in err
    check = contents(copy3)
    assert set(check) == {path.name for path in copy3.iterdir()} - {LOCK}


def test_tables_of_other_rules_are_kept_without_their_manifest(tmp_path: Path, capsys: Capture) -> None:
    generate(tmp_path, 2, ruleset=KING_MOVES_ONLY)
    (tmp_path / "manifest.json").unlink()
    before = contents(tmp_path)
    assert main(["generate", "--data", str(tmp_path), "--pieces", "3"]) == 1
    err = capsys.readouterr().err
    assert "holds tables made under other draw rules (king-moves-only)" in err
    assert contents(tmp_path) == before
    generate(tmp_path, 2, ruleset=KING_MOVES_ONLY)
    assert set(contents(tmp_path)) == {*before, "manifest.json"}


def spoil(manifest: Path, **changes: object) -> None:
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changes))


OTHER_KINDS = pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format_version": 0}, "tables of an older format (version 0, where this program writes "),
        ({"format_version": 99}, "tables of a newer format (version 99, where this program writes "),
        ({"format_version": "x"}, "tables of another format (version x, where this program writes "),
        ({"ruleset": {"name": "unheard-of", "king_moves_plies": 10}}, "tables made under other draw rules ("),
        (
            {"ruleset": {"name": "king-moves-only", "king_moves_plies": 32}},
            "tables made under other draw rules (",
        ),
        ({"materials": 5}, "a set of tables with a damaged manifest ("),
    ],
)


@OTHER_KINDS
def test_tables_of_another_kind_are_refused_untouched(
    changes: dict[str, object], says: str, copy3: Path, capsys: Capture
) -> None:
    spoil(copy3 / "manifest.json", **changes)
    (copy3 / "KvK.wdl.1.tmp").write_bytes(b"what a killed run of the other program was writing")
    (copy3 / LOCK).unlink()
    before = contents(copy3)
    for options in ([], ["--dry-run"]):
        assert main(["generate", "--data", str(copy3), "--pieces", "3", *options]) == 1
        answer = capsys.readouterr()
        assert answer.out == ""
        assert answer.err.startswith(f"shashki: {copy3} holds {says}")
        assert "empty it, name another place with --data or --store, or add --replace" in answer.err
        assert contents(copy3) == before
        assert not (copy3 / LOCK).exists()


@OTHER_KINDS
def test_replace_makes_tables_of_another_kind_again(
    changes: dict[str, object], says: str, copy3: Path, tables3: Path, capsys: Capture
) -> None:
    spoil(copy3 / "manifest.json", **changes)
    (copy3 / "KKKvK.wdl").write_bytes(b"of the old kind, and of no use any more")
    (copy3 / "notes.wdl").write_bytes(b"no table")
    before = contents(copy3)
    command = ["generate", "--data", str(copy3), "--pieces", "3", "--replace"]
    note = f"note: the 51 tables in {copy3} are removed and made again\n"
    assert main([*command, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(note)
    assert "materials  16 to solve" in out
    assert contents(copy3) == before
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith(note)
    assert "solved 16 materials" in out
    assert (copy3 / "notes.wdl").read_bytes() == b"no table"
    (copy3 / "notes.wdl").unlink()
    assert same(copy3, tables3)


def test_replace_makes_a_whole_set_again(copy3: Path, tables3: Path) -> None:
    watching = Watching()
    generate(copy3, 3, progress=watching, replace=True)
    assert watching.notes == [f"the 50 tables in {copy3} are removed and made again"]
    assert len(watching.solved_pairs) == 9
    assert same(copy3, tables3)


def test_replace_prints_no_note_for_an_empty_directory(tmp_path: Path, capsys: Capture) -> None:
    assert main(["generate", "--data", str(tmp_path), "--pieces", "2", "--replace"]) == 0
    assert capsys.readouterr().out.startswith("solved 4 materials")


def test_the_note_comes_before_anything_is_removed(copy3: Path) -> None:
    before = contents(copy3)

    class Stopped(Progress):
        def replacing(self, note: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(copy3, 3, progress=Stopped(), replace=True)
    assert contents(copy3) == before


def test_tables_of_other_rules_that_are_known_are_refused(
    tables3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = Ruleset("test-4", 4)
    monkeypatch.setitem(RULESETS, rules.name, rules)
    generate(tmp_path, 3, ruleset=rules)
    before = contents(tmp_path)
    with pytest.raises(IncompatibleTablesError, match=r"made under other draw rules \(test-4\)"):
        generate(tmp_path, 3)
    assert contents(tmp_path) == before
    generate(tmp_path, 3, replace=True)
    assert same(tmp_path, tables3)


def test_a_plan_that_does_not_fit_leaves_old_tables_alone(
    copy3: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    spoil(copy3 / "manifest.json", format_version=0)
    before = contents(copy3)
    monkeypatch.setattr("generator.run.available_memory", lambda: 1 << 20)
    assert main(["generate", "--data", str(copy3), "--pieces", "3", "--replace"]) == 1
    answer = capsys.readouterr()
    assert "3 pieces need about" in answer.err
    assert answer.out == ""
    assert contents(copy3) == before
