"""Progress bars in a terminal, silence elsewhere."""

import sys
import time
from threading import Lock
from typing import NoReturn

from tqdm import tqdm

from generator.plan import Plan
from tablebase.board.material import Material


class Bar:
    """Shows a run of the generator: positions and materials done, rate, time left, the material in hand."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bar: tqdm[NoReturn] | None = None
        self._begun = False
        self._next_line = 0.0
        self._restoring = False
        self._pairs = 0
        self._written = 0

    def replacing(self, note: str) -> None:
        """The tables that are there are about to be removed."""
        print(f"note: {note}", flush=True)

    def note(self, text: str) -> None:
        """Something has happened that a person should know."""
        tqdm.write(f"note: {text}", file=sys.stderr)

    def begin(self, plan: Plan) -> None:
        """The run begins."""
        self._pairs = len(plan.todo)
        self._bar = tqdm(
            total=plan.positions, unit=" positions", unit_scale=True, dynamic_ncols=True,
            disable=not sys.stderr.isatty(), desc="compiling" if plan.todo else "done", mininterval=0.2,
        )  # fmt: skip

    def compiled(self, name: str, done: int, total: int) -> None:
        """One more kernel is compiled, the `done`-th of about `total`.

        Without a terminal this writes a line every five seconds.
        """
        if self._bar is not None and not self._bar.disable:
            self._bar.set_description(f"compiling {done}/{total} {name}")
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + 5
            print(f"compiling: {done} of about {total} kernels", file=sys.stderr, flush=True)

    def material(self, pair: Material, restoring: bool) -> None:
        """The next pair of materials is begun (or, `restoring`, read back)."""
        if self._bar is not None and not self._begun:
            self._begun = True
            self._bar.reset(self._bar.total)  # what compiling took is no part of the rate
        self._restoring = restoring
        if self._bar is not None:
            self._bar.set_description(
                f"{'reading' if restoring else 'solving'} {pair}", refresh=not restoring
            )

    def solved(self, positions: int) -> None:
        """So many more positions are solved."""
        if self._bar is not None and not self._restoring:
            with self._lock:
                self._bar.update(positions)

    def written(self, pair: Material) -> None:
        """A pair's files and their manifest entry are on disk."""
        self._written += 1
        if self._bar is not None:
            with self._lock:
                self._bar.set_postfix_str(f"{self._written}/{self._pairs} pairs of materials", refresh=False)

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.close()


class StageBar:
    """Shows the stages of `verify`, one bar after another."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """So much of a stage is done."""
        if stage != self._stage or self._bar is None:
            self.close()
            self._stage = stage
            self._bar = tqdm(
                total=total, desc=stage if stage == "compiling" else f"checking {stage}", unit_scale=True,
                dynamic_ncols=True, disable=not sys.stderr.isatty(), mininterval=0.2,
            )  # fmt: skip
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
