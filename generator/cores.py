"""How many cores there are to work with."""

import os


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system says which cores a process may use
        return os.cpu_count() or 1
