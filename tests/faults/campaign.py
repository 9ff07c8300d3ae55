"""Random faults from a seed, and a referee that is not the product: plain SQLite, a log of the subject's own, /proc.

A run of 30 planned executions is started, disturbed at random moments, and gone on with by the command that a user
would type, until it is closed. Then the referee counts what the subject says it was asked, and what the store holds.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..command import Bench
from .kinds import FAULTS, Fault, interrupt, jump, kill
from .runs import CALLS, FILES, JUDGED, PLANNED, RUN_KINDS, RunKind
from .small_disk import SmallDisk

VARIABLE = "CAMPAIGN_OF_FAULTS"
"""By this variable every process of a campaign is found."""
LONGEST_S = 60.0
"""Seconds of a call of 10 ms, however busy the machine is; a clock that was set makes it longer, or negative."""


@dataclass
class Campaign:
    """One folder with its store. ``faults`` counts what was done to it, by kind; ``wrong`` what the referee found."""

    bench: Bench
    rng: random.Random
    disk: SmallDisk
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    kind: RunKind = RUN_KINDS["suite"]

    @property
    def store(self) -> Path:
        return self.bench.folder / ".dyno" / "dyno.db"

    def prepare(self) -> None:
        self.bench.environ[VARIABLE] = str(self.bench.folder)
        self.set_clock(0)
        if self.clock_can_jump:
            clock = {
                "LD_PRELOAD": str(self.bench.folder / "clock.so"),
                "CAMPAIGN_CLOCK": str(self.bench.folder / "clock"),
            }
            self.bench.environ |= clock
        for name, text in FILES.items():
            self.bench.write(name, text)

    def set_clock(self, offset_s: int) -> None:
        """How far the clock on the wall is from the true one, for every process of the campaign."""
        new = self.bench.folder / "clock.new"
        new.write_text(f"{offset_s:+d}")
        new.replace(self.bench.folder / "clock")

    def clear(self) -> None:
        for item in (self.bench.folder / ".dyno").glob("*"):
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        for log in (CALLS, JUDGED):
            (self.bench.folder / log).unlink(missing_ok=True)

    def one_run(self, name: str, most_faults: int) -> None:
        """A run of a kind, from its first start to its end; the referee looks at it afterwards."""
        self.clear()
        self.kind = kind = RUN_KINDS[name]
        if kind.before:
            made = self.bench.dyno(*kind.before)
            self.wrong += [f"{name}: what it needs cannot be made: {made.err}"] if made.code else []
        here: Counter[str] = Counter()
        while self.status() != "complete" and sum(here.values()) < 20:
            process = self.start(kind.first if self.status() is None else kind.again)
            fault = self.rng.choice(self.possible) if sum(here.values()) < most_faults else None
            if fault is not None and self.reaches(process, self.calls() + self.rng.randrange(12)):
                time.sleep(self.rng.random() * 0.02)
                fault(self, process)
                here[fault.__name__] += 1
            out, err = process.communicate(timeout=120)
            self.errors += [text for text in (out, err) if "Traceback" in text]
            if process.returncode == 1 and kind.tells:
                self.wrong.append(f"{name}: it ends as if something were worse: {err}")
        self.faults += here
        self.judge(name, sum(here.values()))

    def start(self, command: tuple[str, ...]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.bench.folder,
            env=self.bench.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def one_load(self, url: str) -> None:
        """A load without an end, ended from outside at a random moment; its windows stay, and it is closed."""
        self.clear()
        process = self.bench.start(
            "load", url, "--model", "m", "--rate", "20", "--duration", "600", "--window", "0.2"
        )
        windows = self.rng.randrange(1, 6)
        while len(self.rows("SELECT id FROM samples")) < windows:
            if process.poll() is not None:
                self.wrong.append(f"load: it ended by itself: {process.communicate()[1]}")
                return
            time.sleep(0.01)
        fault = self.rng.choice((kill, interrupt))
        fault(self, process)
        self.faults[fault.__name__] += 1
        texts = list(process.communicate(timeout=120))
        if self.status() == "running":
            done = self.bench.dyno("resume")
            texts += [done.out, done.err]
        self.errors += [text for text in texts if "Traceback" in text]
        statuses, kept = self.rows("SELECT status FROM runs"), len(self.rows("SELECT id FROM samples"))
        if statuses != [("partial",)] or kept < windows:
            self.wrong.append(f"load: runs are {statuses}, with {kept} windows where {windows} had been stored")
        self.wrong += [f"load: process {pid} is left" for pid in self.left_over()]

    def reaches(self, process: subprocess.Popen[str], calls: int) -> bool:
        """Waits until the subject was asked so often; false where the run ended before that."""
        while self.calls() < calls:
            if process.poll() is not None:
                return False
            time.sleep(0.002)
        return process.poll() is None

    @cached_property
    def clock_can_jump(self) -> bool:
        """Whether what moves the clock can be made here: where there is a compiler."""
        compiler = shutil.which("cc")
        if compiler is None:
            return False
        source, made = Path(__file__).with_name("clock.c"), self.bench.folder / "clock.so"
        done = subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=False, capture_output=True)
        return done.returncode == 0

    @property
    def possible(self) -> tuple[Fault, ...]:
        known = (*FAULTS, jump) if self.clock_can_jump else FAULTS
        return tuple(fault for fault in known if fault.__name__ not in self.kind.without)

    # The referee: none of this is the product's code.

    def calls(self) -> int:
        return self.noted(self.kind.log)

    def noted(self, log: str) -> int:
        file = self.bench.folder / log
        return file.stat().st_size if file.exists() else 0

    def rows(self, asked: str) -> list[tuple[object, ...]]:
        if not self.store.is_file():
            return []
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=30)) as link:
            try:
                return link.execute(asked).fetchall()
            except sqlite3.OperationalError:
                return []

    def status(self) -> str | None:
        """Of the run that is disturbed; ``None`` where there is none yet."""
        found = self.rows("SELECT status FROM runs ORDER BY id")[self.kind.place :]
        return str(found[0][0]) if found else None

    def has_open(self, pid: int) -> bool:
        """Whether a process has the store open."""
        links = Path(f"/proc/{pid}/fd")
        return any(str(self.store) == str(link.resolve()) for link in links.iterdir())

    def judge(self, kind: str, faults: int) -> None:
        place = self.kind.place
        statuses = [row[0] for row in self.rows("SELECT status FROM runs")]
        if statuses != ["complete"] * (place + 1):
            self.wrong.append(f"{kind}: runs are {statuses}")
        trials = self.rows(
            "SELECT arm, iteration, case_id, count(*) FROM samples WHERE status = 'ok' AND arm IN"
            f" (SELECT id FROM arms WHERE run = (SELECT id FROM runs ORDER BY id LIMIT 1 OFFSET {place}))"
            " GROUP BY 1, 2, 3"
        )
        if len(trials) != PLANNED:
            self.wrong.append(f"{kind}: {len(trials)} of {PLANNED} executions are there")
        self.wrong += [f"{kind}: {row} is there more than once" for row in trials if row[3] != 1]
        times = self.rows("SELECT min(duration_s), max(duration_s) FROM samples WHERE duration_s IS NOT NULL")
        if not all(isinstance(time_s, float) and 0 < time_s < LONGEST_S for time_s in times[0]):
            self.wrong.append(f"{kind}: calls of 10 ms took {times}")
        asked = self.calls()
        if self.kind.before and self.noted(CALLS) != PLANNED:
            self.wrong.append(f"{kind}: an agent was asked, where nobody is to be asked")
        if not PLANNED <= asked <= PLANNED + self.kind.spare * faults:
            self.wrong.append(f"{kind}: the subject was asked {asked} times for {PLANNED} and {faults} faults")
        sound = self.rows("PRAGMA integrity_check")
        if sound != [("ok",)]:
            self.wrong.append(f"{kind}: the store is damaged: {sound[:1]}")
        self.wrong += [f"{kind}: process {pid} is left" for pid in self.left_over()]

    def left_over(self) -> list[int]:
        """Processes of this campaign that still run, after a moment in which they may end."""
        needle = f"{VARIABLE}={self.bench.folder}".encode()
        for _ in range(100):
            found = [int(item.name) for item in Path("/proc").iterdir() if item.name.isdigit() and _has(item, needle)]
            if not found:
                return []
            time.sleep(0.1)
        return found


def _has(process: Path, needle: bytes) -> bool:
    try:
        return needle in (process / "environ").read_bytes()
    except OSError:
        return False
