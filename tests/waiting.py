"""Waiting for what another process or thread does: until it has happened, with patience for a busy machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""Far longer than anything takes beside busy processes; only what will never happen uses it up."""
PAUSE_S = 0.02


def wait_until(
    happened: Callable[[], object],
    why: Callable[[], str] = lambda: "it never happened",
    *,
    patience_s: float = PATIENCE_S,
    pause_s: float = PAUSE_S,
) -> None:
    """Returns as soon as ``happened()`` is true. ``why`` tells what there is to say when it never is."""
    give_up = time.monotonic() + patience_s
    while not happened():
        if time.monotonic() > give_up:
            raise AssertionError(why())
        time.sleep(pause_s)


def wait_while_running(
    process: subprocess.Popen[str], happened: Callable[[], object], *, pause_s: float = PAUSE_S
) -> None:
    """Returns as soon as ``happened()`` is true; fails with what the process said where that ends before."""
    wait_until(lambda: happened() or process.poll() is not None, lambda: _last_words(process), pause_s=pause_s)
    assert happened(), f"it ended with {process.returncode} before: {process.communicate()}"


def _last_words(process: subprocess.Popen[str]) -> str:
    process.kill()
    return f"it never happened, and the process said: {process.communicate()}"
