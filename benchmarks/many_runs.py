"""A store of 20,000 runs: what the commands that look at all of it take, beside a store of 200 and of 2,000.

    python benchmarks/many_runs.py [--runs 200,2000,20000] [--times 5] [--keep FOLDER]

Real runs (two suites, two agents, an experiment) are measured once by the installed command; the others are copies of
their rows with ids and times of their own, one every quarter of an hour until now: 90 days hold 8,640 of them.
Every fortieth begins another version of both agents. Each command is a process of its own, from its start to its end;
Python's compiled files are there, as they are for a user, and nothing else is kept between two of them.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import random
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table, run_process

from agentdyno.store import Store

DYNO = str(Path(sys.executable).with_name("dyno"))
AGENT = "def good(text):\n    return text\n\n\ndef worse(text):\n    return text if len(text) < 2 else ''\n"
EXPERIMENT = "def sorting(size: int = 100) -> float:\n    return float(sorted(range(size, 0, -1))[0])\n"
SUITE = (
    "name: {name}\nscorer: exact\nwarmup: 0\nepochs: 2\n"
    "agents:\n  - {{name: good, version: '1.0', uses: work.py@good}}\n"
    "  - {{name: other, version: '1.0', uses: work.py@worse}}\n"
    "dataset:\n  cases: [{cases}]\n"
)
CASES = ", ".join(f'{{id: c{number}, input: "{number}", target: "{number}"}}' for number in range(25))
EXPERIMENT_FILE = "name: sorting\niterations: 5\nexperiments: [{experiment: work.py@sorting}]\n"
STEP_MS = 15 * 60_000
VERSION_RUNS = 40
COMMANDS = {
    "list runs": ("list", "runs"),
    "board": ("board",),
    "changes": ("changes",),
    "history": ("history", "good"),
    "history of an experiment": ("history", "sorting"),
}
FLAT = 1.5
"""A command may take so many times as long with the most runs as with the fewest."""


def measured(folder: Path, environ: dict[str, str]) -> None:
    """The runs that the others are copies of, one of every kind."""
    (folder / "work.py").write_text(AGENT + "\n\n" + EXPERIMENT)
    for name in ("orders", "quotes"):
        (folder / f"{name}.yaml").write_text(SUITE.format(name=name, cases=CASES))
    (folder / "sorting.yaml").write_text(EXPERIMENT_FILE)
    for name in ("orders", "quotes", "sorting"):
        run(folder, environ, "run", f"{name}.yaml")


def run(folder: Path, environ: dict[str, str], *arguments: str) -> float:
    """CPU seconds of a command with its children: what else the machine does has little part in them."""
    return run_process([DYNO, *arguments], environ, folder).cpu_s


def copied(file: Path, count: int) -> None:
    """Fills the store up to ``count`` runs, from the oldest to the newest; the measured ones become the oldest."""
    now_ms = time.time_ns() // 1_000_000
    with closing(sqlite3.connect(file)) as link, link:
        link.execute("PRAGMA synchronous = OFF")
        originals = [row[0] for row in link.execute("SELECT id FROM runs ORDER BY id")]
        for run_key in originals:
            _move(link, run_key, now_ms - count * STEP_MS)
        for number in range(count - len(originals)):
            at_ms = now_ms - (count - len(originals) - number) * STEP_MS
            _copy_run(link, originals[number % len(originals)], at_ms, f"1.{1 + number // VERSION_RUNS}")
    with Store.open(file) as store:
        store.boards.rebuild_summaries()


def _move(link: sqlite3.Connection, run_key: int, at_ms: int) -> None:
    link.execute("UPDATE runs SET started_at = ?, finished_at = ? WHERE id = ?", (at_ms, at_ms + 1_000, run_key))
    link.execute(
        "UPDATE executions SET started_at = ?, finished_at = ?, created_at = ? WHERE run = ?",
        (at_ms, at_ms + 1_000, at_ms + 1_000, run_key),
    )


def _copy_run(link: sqlite3.Connection, original: int, at_ms: int, version: str) -> None:
    run_id = uuid.UUID(int=(at_ms << 80) | (7 << 76) | (2 << 62) | random.getrandbits(62)).bytes
    run_key = _copy(link, "runs", original, run_id=run_id, started_at=at_ms, finished_at=at_ms + 1_000)
    for arm_key, agent in link.execute("SELECT id, agent FROM arms WHERE run = ?", (original,)).fetchall():
        label = None if agent is None else f"{agent.partition('@')[0]}@{version}"
        new_arm = _copy(link, "arms", arm_key, run=run_key, agent=label)
        _copy(link, "samples", arm_key, by="arm", arm=new_arm)
        for key, of_agent in link.execute("SELECT id, agent FROM executions WHERE arm = ?", (arm_key,)).fetchall():
            agent_key, uid = _agent(link, of_agent, version), uuid.uuid4().bytes
            _copy(link, "executions", key, uid=uid, run=run_key, arm=new_arm, agent=agent_key)
    _move(link, run_key, at_ms)


def _agent(link: sqlite3.Connection, original: int, version: str) -> int:
    asked = "SELECT b.id FROM agents a JOIN agents b USING (name) WHERE a.id = ? AND b.version = ?"
    found = link.execute(asked, (original, version)).fetchone()
    if found is not None:
        return int(found[0])
    return _copy(link, "agents", original, uid=uuid.uuid4().bytes, version=version)


def _copy(link: sqlite3.Connection, table: str, key: int, *, by: str = "id", **other: object) -> int:
    """Copies of the rows whose column ``by`` is ``key``, with some other values; the key of the last."""
    columns = _columns(link, table)
    values = ", ".join(f":{name}" if name in other else name for name in columns)
    made = link.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} WHERE {by} = :_key",
        {**other, "_key": key},
    )
    return int(made.lastrowid or 0)


@functools.cache
def _columns(link: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in link.execute(f"PRAGMA table_info({table})") if row[1] != "id"]


def main(sizes: Sequence[int], times: int, keep: Path | None) -> None:
    print_heading()
    taken: dict[int, dict[str, float]] = {}
    for size in sizes:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) if keep is None else keep / str(size)
            environ = {**os.environ, "XDG_CACHE_HOME": str(folder / ".cache"), "COLUMNS": "100"}
            environ |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / ".cache" / "compiled")}
            if not (folder / ".dyno").exists():
                folder.mkdir(parents=True, exist_ok=True)
                measured(folder, environ)
                copied(folder / ".dyno" / "dyno.db", size)
            taken[size] = {
                name: min(run(folder, environ, *words) for _ in range(times)) for name, words in COMMANDS.items()
            }
    few, many = min(sizes), max(sizes)
    rows = [
        (
            name,
            *(f"{taken[size][name] * 1e3:,.0f}" for size in sizes),
            f"{taken[many][name] / taken[few][name]:.2f}",
            met(taken[many][name] <= FLAT * taken[few][name]),
        )
        for name in COMMANDS
    ]
    print_table(
        f"CPU milliseconds of a command, from its start to its end (least of {times})",
        ("command", *(f"{size:,} runs" for size in sizes), "growth", f"at most {FLAT:g}"),
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", default="200,2000,20000", help="sizes of the stores")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="a folder to keep the stores in, or to find them")
    given = parser.parse_args()
    main([int(size) for size in given.runs.split(",")], given.times, given.keep)
