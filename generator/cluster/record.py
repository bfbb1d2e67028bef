"""What is known of a task that is done: it goes from worker to command, to the tasks that follow, and as JSON
into the store, where the next run finds it."""

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from tablebase.atomicfile import FileRecord
from tablebase.manifest import SliceRecord, slice_from_json, slice_to_json
from tablebase.material import Material

FOLDER = "work"
"""The folder of the store for what tasks leave to one another."""
RECORD = ".json"
AFTER, VALUES, BALANCE, FORGET = ".after", ".values", ".balance", ".forget"
_OURS = re.compile(
    rf"{FOLDER}/(pair|restore|blocks|join|tables)-K*M*vK*M*(-\d+-\d+-\d+)?"
    rf"({AFTER}|{VALUES}|{BALANCE}|{FORGET}|{RECORD})(\.[0-9a-f-]+\.tmp)?"
)


def record_name(key: str) -> str:
    """The name in the store of what is known of a task."""
    return f"{FOLDER}/{key}{RECORD}"


def is_of_tasks(name: str) -> bool:
    """Whether this is the name of what a task has left, or was leaving when it was cut short: a folder of
    this name may have been there before, with files that are none of our business."""
    return _OURS.fullmatch(name) is not None


@dataclass(frozen=True)
class Record:
    """A task that is done.

    Attributes:
        key: of the task.
        pair: its pair of materials.
        settings: the digest of the settings that it was done under.
        files: what it left for other tasks, by name in the store.
        slices: what the manifest is to say of the materials whose tables it wrote.
        lacking: whether some position that is decided under the king-moves rule has no DTB within the limit.
        positions: how many it solved.
        seconds: what it took, by what was done: "loading", "working", "storing".
        cores: seconds of processors for it, by the same.
        fetched: bytes that it fetched from the store.
        memory: bytes of memory at the most, of its process until then.
        worker: who did it.
    """

    key: str
    pair: str
    settings: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    slices: dict[str, Any] = field(default_factory=dict)
    lacking: bool = False
    positions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    cores: dict[str, float] = field(default_factory=dict)
    fetched: int = 0
    memory: int = 0
    worker: str = ""

    @property
    def name(self) -> str:
        """Its own name in the store."""
        return record_name(self.key)

    def to_json(self) -> bytes:
        """As it stands in the store."""
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "Record | None":
        """Read it back; None where it is no such thing."""
        try:
            data = json.loads(content)
            data["files"] = {name: FileRecord(*record) for name, record in data["files"].items()}
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def slice_records(self) -> dict[Material, SliceRecord]:
        """Its entries of the manifest."""
        return {Material.parse(text): slice_from_json(text, entry) for text, entry in self.slices.items()}


def slices_to_json(slices: dict[Material, SliceRecord]) -> dict[str, Any]:
    """Entries of the manifest, as a record has them."""
    # As JSON has it, so that a record is the same whether it has been in the store or not.
    found: dict[str, Any] = json.loads(json.dumps({str(m): slice_to_json(of) for m, of in slices.items()}))
    return found
