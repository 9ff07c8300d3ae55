"""What the scripts of this folder share: the table they print, processes with their costs, the machine in words."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
PYTHON = sys.executable


@dataclass(frozen=True, slots=True)
class Cost:
    """What a finished process and the children it waited for took: seconds, and the peak memory of one of them."""

    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


def run_process(command: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Cost:
    """Runs a command to its end; raises with its output when it fails.

    Modules are compiled once and kept, as they are for everybody: where this is forbidden, a package that is
    installed from its sources would be compiled anew each time, and its peers would not.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(env or {})},
        cwd=cwd,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output.decode(errors='replace')}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """First column to the left, the others to the right, as wide as what is in them."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    print(f"\n{title}")
    for number, line in enumerate(lines):
        first, *rest = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        cells = [first, *(text.rstrip().rjust(len(text)) for text in rest)]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))
    for note in notes:
        print(note)
    sys.stdout.flush()


def met(reached: bool) -> str:
    return "met" if reached else "MISSED"


def machine() -> str:
    """This machine in one line."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}, {python}, load {load}"


def print_heading() -> None:
    """The command, the date and the machine: what a figure needs beside it."""
    print(f"$ python benchmarks/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}")
    print(f"{time.strftime('%Y-%m-%d')}; {machine()}")
    sys.stdout.flush()
