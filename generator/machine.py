"""The machine: its cores, memory and disk, and sizes as text."""

import os
import shutil
from pathlib import Path


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1


def available_memory() -> int:
    """Return the bytes of memory that are available on this machine and within its control group's limit."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            found.append(int(limit) - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError, IndexError):
        pass  # not Linux, or no control groups: use what was found so far
    return min(found)


def available_disk(directory: Path) -> int:
    """Return the free bytes on the disk of a directory, which need not exist."""
    while not directory.exists():
        directory = directory.parent
    return shutil.disk_usage(directory).free


def format_bytes(size: float) -> str:
    """Return a size in bytes as text for people, like `5.6 GB`."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
