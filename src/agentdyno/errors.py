"""The exception tree: everything that agentdyno raises on purpose.

DynoError
├── SpecError       a spec, a suite or a command's arguments say something that cannot be run
├── PluginError     an experiment, instrument or reporter cannot be found, loaded or described
├── RunError        a run cannot start or go on (a broken interpreter, an unwritable folder)
├── StoreError      the store is locked, read-only, unreachable, or holds something else
│   ├── Unknown     the store works, and holds nothing of that name
│   ├── Conflict    the store works, and what it holds stands against this
│   ├── StoreGone   the file that is written to has lost its name: deleted, or replaced by another
│   └── LeaseLost   the job has ended, or has gone to another worker
├── ResultError     a result file is cut off, of a newer schema, or not one of ours
├── ImportFailed    a file of another tool is of no known format, or does not hold together
│   └── ImportTooLarge  it holds more than an import may
└── NotComparable   two results have nothing that may be set side by side

Each carries what happened, where (file and key) and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DynoError(Exception):
    """What happened, where, and the remedy, each in the user's words."""

    def __init__(self, message: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  {self.remedy}" if self.remedy else text

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.where, self.remedy))


class SpecError(DynoError):
    """A spec, a suite or a command's arguments say something that cannot be run."""


class PluginError(DynoError):
    """An experiment, instrument or reporter cannot be found, loaded or described."""


class RunError(DynoError):
    """A run cannot start or cannot go on."""


class StoreError(DynoError):
    """The store is locked, read-only, unreachable, or holds something else."""


class Unknown(StoreError):
    """The store works, and holds nothing of that name."""


class Conflict(StoreError):
    """The store works, and what it holds stands against this (a name that is taken)."""


class StoreGone(StoreError):
    """The file that is written to has lost its name: nobody will find what is stored in it."""


class LeaseLost(StoreError):
    """The job has ended, or has gone to another worker: whoever held it writes nothing more about it."""


class ResultError(DynoError):
    """A result file is cut off, of a newer schema, or not one of ours."""


class ImportFailed(DynoError):
    """A file of another tool is of no known format, or does not hold together."""


class ImportTooLarge(ImportFailed):
    """A file of another tool is, or unpacks to, more than an import may hold."""


class NotComparable(DynoError):
    """Two results have nothing that may be set side by side."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A remedy that names the known names closest to ``name``, or all of them when few."""
    names = sorted(set(known))
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    if not names:
        return "None are known here."
    listed = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return f"Known: {listed}."


def _rebuild(kind: type[DynoError], message: str, where: str | None, remedy: str | None) -> DynoError:
    return kind(message, where=where, remedy=remedy)
