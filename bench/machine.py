"""The machine: what it is, how fast it multiplies, when it is quiet, and two threads for everyone."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

THREADS = 2


def two_threads():
    """For this process and all it starts: two processors, and two threads in whatever library asks."""
    processors = sorted(os.sched_getaffinity(0))[:THREADS]
    os.sched_setaffinity(0, processors)
    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):
        os.environ[f"{library}_NUM_THREADS"] = str(THREADS)


def wait_until_quiet(limit=5.0, window=0.1):
    """Waits until our processors have been idle for a moment, and says whether they were before `limit` seconds passed.

    OpenMP's threads spin for a while after their work is done, and would take time from the next contestant.
    """
    deadline = time.monotonic() + limit
    while True:
        before = _ticks()
        time.sleep(window)
        busy, total = (after - earlier for after, earlier in zip(_ticks(), before))
        if busy <= 0.1 * total:
            return True
        if time.monotonic() > deadline:
            return False


def _ticks():
    """Busy and total clock ticks of our processors so far."""
    ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    busy = total = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name in ours:
            ticks = [int(field) for field in fields[:8]]
            idle = ticks[3] + ticks[4]  # idle, and waiting for the disk
            total += sum(ticks)
            busy += sum(ticks) - idle
    return busy, total


def describe():
    """Processor, cores and memory."""
    cpu = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        cpu.setdefault(name.strip(), value.strip())
    flags = set(cpu.get("flags", "").split())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    return {
        "processor": cpu.get("model name", "unknown"),
        "vectors": next((name for name in ("avx512f", "avx2", "avx") if name in flags), "none"),
        "cores": os.cpu_count(),
        "threads": THREADS,
        "memory": f"{memory:.0f} GB",
    }


def product_peak():
    """The machine's matrix product in operations a second, by numpy's BLAS, in a process of its own."""
    done = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def _measure(size=2048, seconds=2.0):
    import numpy as np

    peak = {}
    for dtype in ("float64", "float32"):
        a, b = np.random.default_rng(0).random((2, size, size)).astype(dtype)
        out = a @ b
        best, began = float("inf"), time.monotonic()
        while time.monotonic() - began < seconds:
            started = time.perf_counter()
            np.matmul(a, b, out=out)
            best = min(best, time.perf_counter() - started)
        peak[dtype] = 2.0 * size**3 / best
    return peak


if __name__ == "__main__":
    print(json.dumps(_measure()))
