"""One budget of decoded frames, shared by all tables that are given the same cache."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from threading import Lock

DEFAULT_BYTES = 64 << 20

Key = tuple[int, int]
"""A table, as numbered by `FrameCache.new_owner`, and one of its frames."""


class FrameCache:
    """Keeps the frames used last, up to a number of bytes. May be used by any number of threads.

    Args:
        max_bytes: the budget; a frame larger than all of it is simply not kept.
    """

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._frames: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = Lock()
        self._owners = count()

    @property
    def used_bytes(self) -> int:
        """How many bytes of frames are kept now."""
        return self._bytes

    def new_owner(self) -> int:
        """A number no other table that uses this cache has."""
        return next(self._owners)

    def get(self, owner: int, frame: int, decode: Callable[[int], bytes]) -> bytes:
        """The frame, from the cache or else from `decode(frame)`, whose errors pass through."""
        key = owner, frame
        with self._lock:
            found = self._frames.get(key)
            if found is not None:
                self._frames.move_to_end(key)
                return found
        # Decoded outside the lock: two threads seldom need the same frame, and often different ones.
        found = decode(frame)
        with self._lock:
            if key not in self._frames and len(found) <= self.max_bytes:
                self._frames[key] = found
                self._bytes += len(found)
                while self._bytes > self.max_bytes:
                    self._bytes -= len(self._frames.popitem(last=False)[1])
        return found

    def drop(self, owner: int) -> None:
        """Forget all frames of a table that is being closed."""
        with self._lock:
            for key in [key for key in self._frames if key[0] == owner]:
                self._bytes -= len(self._frames.pop(key))
