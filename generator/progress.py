"""Progress of runs: the events of a run, and progress bars in a terminal."""

import sys
import time
from threading import Lock
from typing import NoReturn

from tqdm import tqdm

from generator.plan import Plan
from tablebase.board.material import Material


class Progress:
    """Receiver of the events of a run. This class ignores them all; derived classes override methods.

    Several threads may call the methods at once.
    """

    def replacing(self, note: str) -> None:
        """Receive the note that all existing tables are about to be removed."""

    def note(self, text: str) -> None:
        """Receive a note for the user."""

    def begin(self, plan: Plan) -> None:
        """Receive the plan, at the beginning of the run."""

    def compiled(self, name: str, done: int, total: int) -> None:
        """Receive the name of a kernel that was compiled, number `done` of about `total`."""

    def material(self, pair: Material, restoring: bool) -> None:
        """Receive the pair that is solved next; or read back from its tables, if `restoring`."""

    def solved(self, positions: int) -> None:
        """Receive the number of positions that were solved since the last call."""

    def written(self, pair: Material) -> None:
        """Receive a pair whose tables and manifest entry are on disk."""


class Bar(Progress):
    """A progress bar of a run: positions and pairs done, rate, time left, the current pair."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bar: tqdm[NoReturn] | None = None
        self._begun = False
        self._next_line = 0.0
        self._restoring = False
        self._pairs = 0
        self._written = 0

    def replacing(self, note: str) -> None:
        """Print the note."""
        print(f"note: {note}", flush=True)

    def note(self, text: str) -> None:
        """Print the note above the bar."""
        tqdm.write(f"note: {text}", file=sys.stderr)

    def begin(self, plan: Plan) -> None:
        """Show the bar, if stderr is a terminal."""
        self._pairs = len(plan.todo)
        self._bar = tqdm(
            total=plan.positions, unit=" positions", unit_scale=True, dynamic_ncols=True,
            disable=not sys.stderr.isatty(), desc="compiling" if plan.todo else "done", mininterval=0.2,
        )  # fmt: skip

    def compiled(self, name: str, done: int, total: int) -> None:
        """Show the number of compiled kernels: in the bar, or in a line every five seconds."""
        if self._bar is not None and not self._bar.disable:
            self._bar.set_description(f"compiling {done}/{total} {name}")
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + 5
            print(f"compiling: {done} of about {total} kernels", file=sys.stderr, flush=True)

    def material(self, pair: Material, restoring: bool) -> None:
        """Show the pair as the bar's title."""
        if self._bar is not None and not self._begun:
            self._begun = True
            self._bar.reset(self._bar.total)  # the rate is without compiling
        self._restoring = restoring
        if self._bar is not None:
            self._bar.set_description(
                f"{'reading' if restoring else 'solving'} {pair}", refresh=not restoring
            )

    def solved(self, positions: int) -> None:
        """Advance the bar by a number of positions."""
        if self._bar is not None and not self._restoring:
            with self._lock:
                self._bar.update(positions)

    def written(self, pair: Material) -> None:
        """Show the number of pairs that are written."""
        self._written += 1
        if self._bar is not None:
            with self._lock:
                self._bar.set_postfix_str(f"{self._written}/{self._pairs} pairs of materials", refresh=False)

    def close(self) -> None:
        """Close the bar, which stays on the screen."""
        if self._bar is not None:
            self._bar.close()


class StageBar:
    """Progress bars of the stages of `verify` and `check-draws`, one after another."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` files, kernels or positions of a stage are done."""
        if stage != self._stage or self._bar is None:
            self.close()
            self._stage = stage
            self._bar = tqdm(
                total=total, desc=stage if stage == "compiling" else f"checking {stage}", unit_scale=True,
                dynamic_ncols=True, disable=not sys.stderr.isatty(), mininterval=0.2,
            )  # fmt: skip
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Close the current bar, which stays on the screen."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
