"""The lines that a driver sends, read by a thread: a search can look at what has come meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Event, Thread


class HubInput(Iterator[str]):
    """Lines in their order; waits for the next one. One thread at a time may use it.

    Nothing is read behind `quit`, which is an end too.

    Args:
        lines: where they come from, to be used by nobody else.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._queue: SimpleQueue[str | None] = SimpleQueue()  # None is the end
        self._next: str | None = None
        self._ended = Event()
        self._error: OSError | None = None
        Thread(target=self._read, daemon=True).start()

    def __next__(self) -> str:
        """The next line.

        Raises:
            StopIteration: there are no more.
            OSError: they cannot be read any further.
        """
        if self._next is None:
            self._next = self._queue.get()
        line, self._next = self._next, None
        if line is None:
            self._queue.put(None)  # whoever asks once more is told the same
            raise self._error or StopIteration
        return line

    @property
    def has_ended(self) -> bool:
        """Whether no line will come any more, though some may be waiting."""
        return self._ended.is_set()

    def waiting(self) -> str | None:
        """The line that would be next, if it has come; it stays."""
        if self._next is None:
            try:
                self._next = self._queue.get_nowait()
            except Empty:
                return None
            if self._next is None:
                self._queue.put(None)
        return self._next

    def _read(self) -> None:
        try:
            for line in self._lines:
                self._queue.put(line)
                if line.split()[:1] == ["quit"]:
                    break
        except OSError as error:
            self._error = error
        finally:
            self._ended.set()
            self._queue.put(None)
