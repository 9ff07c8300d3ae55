"""What happens to a run: each function does one thing to a campaign's store, disk, clock or process."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .campaign import Campaign

Fault = Callable[["Campaign", "subprocess.Popen[str]"], None]
JUMPS_S = (-86_400, -3600, -5, 5, 3600, 86_400)


def kill(_: Campaign, process: subprocess.Popen[str]) -> None:
    process.kill()


def interrupt(campaign: Campaign, process: subprocess.Popen[str]) -> None:
    """By what ends a run in good order; not by what whoever started the campaign ignores, as ``nohup`` does."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    process.send_signal(campaign.rng.choice(heard))


def pause(_: Campaign, process: subprocess.Popen[str]) -> None:
    """Stopped for longer than the bench takes for a hiccup, then let go on."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.2)
    process.send_signal(signal.SIGCONT)


def lock(campaign: Campaign, _: subprocess.Popen[str]) -> None:
    """Somebody else writes to the store, for a second."""
    if campaign.status() is not None:  # else there is none yet, and it is not for this to make it
        hold(campaign)


def hold(campaign: Campaign) -> None:
    link = sqlite3.connect(campaign.store, timeout=30, isolation_level=None)
    with closing(link), contextlib.suppress(sqlite3.OperationalError):
        link.execute("BEGIN IMMEDIATE")
        time.sleep(1.0)
        link.execute("ROLLBACK")


def delete(campaign: Campaign, process: subprocess.Popen[str]) -> None:
    """The store is deleted while a run writes to it; what the run has kept of it is put in its place.

    The run is stopped for that, so that it is certain that it is not over yet.
    """
    process.send_signal(signal.SIGSTOP)
    executing = campaign.status() == "running" and campaign.has_open(process.pid)
    for suffix in ("", "-wal", "-shm") if executing else ():
        campaign.store.with_name(campaign.store.name + suffix).unlink(missing_ok=True)
    process.send_signal(signal.SIGCONT)
    if not executing:
        return
    process.wait(timeout=120)
    copies = sorted((campaign.bench.folder / ".dyno" / "runs").glob("*/store-*.db"), key=os.path.getmtime)
    if copies:
        copies[-1].replace(campaign.store)
    else:
        campaign.wrong.append("a store that was deleted is gone for good")


def damage(campaign: Campaign, process: subprocess.Popen[str]) -> None:
    """A part of a killed run's store is overwritten: said, and never a traceback; then it comes back from a copy."""
    process.kill()
    process.wait(timeout=120)
    if campaign.status() is None:
        return
    with closing(sqlite3.connect(campaign.store)) as link:
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sound = campaign.store.read_bytes()
    broken = bytearray(sound)
    start = campaign.rng.randrange(4096, max(4097, len(sound) - 4096))
    broken[start : start + 2048] = campaign.rng.randbytes(2048)
    campaign.store.write_bytes(broken)
    copy = str(campaign.store.with_name("rescued.db"))
    for command in (("list", "runs"), ("show", "last"), ("store", "check"), ("store", "rescue", copy)):
        done = campaign.bench.dyno(*command)
        failed = "Traceback" in done.err or done.code not in (0, 2)
        campaign.errors += [f"dyno {' '.join(command)}: {done.code} {done.err}"] if failed else []
    for rescued in campaign.store.parent.glob("rescued.db*"):
        rescued.unlink()
    for suffix in ("-wal", "-shm"):
        campaign.store.with_name(campaign.store.name + suffix).unlink(missing_ok=True)
    campaign.store.write_bytes(sound)


def fill(campaign: Campaign, process: subprocess.Popen[str]) -> None:
    """Not a byte more fits on the disk of the store, until the command has ended or said that it cannot go on."""
    with campaign.disk.filled(process.pid):
        process.wait(timeout=120)


def jump(campaign: Campaign, _: subprocess.Popen[str]) -> None:
    """The clock on the wall is set to another time; the others go on."""
    campaign.set_clock(campaign.rng.choice(JUMPS_S))


FAULTS: tuple[Fault, ...] = (kill, interrupt, pause, lock, delete, damage, fill)
"""Those that are there on every machine; ``jump`` needs a compiler."""
