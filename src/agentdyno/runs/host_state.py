"""What is remembered about this host between runs, in the user's state folder.

Machines of one kind share a ``machine_id``; only the ``host_id`` tells them apart. It is random and says nothing
about its owner. Beside it lie the reference standards (how long the reference workloads took here, per interpreter),
which normalised times rest on, and the spread between runs that ``dyno doctor --calibrate`` measured.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.model.codec import encode, from_plain

STATE_VARIABLE = "DYNO_STATE"
"""Names the folder in place of the user's own; for containers whose home does not last."""
_ID = re.compile(r"[0-9a-f]{16}")
log = logging.getLogger("agentdyno.host")


@dataclass(frozen=True, slots=True)
class ReferenceStandard:
    """Seconds of CPU that each reference workload took when the standard was set, by its name.

    ``source`` is ``calibrated`` or ``first run``; ``measured_at`` UTC milliseconds.
    """

    seconds: Mapping[str, float]
    source: str
    measured_at: int


@dataclass(frozen=True, slots=True)
class CalibratedSpread:
    """Standard deviations of the logarithm of a run's median between ``runs`` fresh processes, by quantity."""

    log_sd: Mapping[str, float]
    runs: int
    measured_at: int


@dataclass(frozen=True, slots=True)
class HostState:
    """``standards`` and ``spreads`` are by interpreter, as ``interpreter_key`` names it; ``ways`` tells by subject
    which reference its times are normalised by."""

    standards: Mapping[str, ReferenceStandard] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    spreads: Mapping[str, CalibratedSpread] = field(default_factory=dict)


def state_folder(variables: Mapping[str, str] | None = None) -> Path:
    """``DYNO_STATE``, else ``agentdyno`` in the user's state folder (``XDG_STATE_HOME``, ``~/.local/state``)."""
    given = os.environ if variables is None else variables
    if named := given.get(STATE_VARIABLE):
        return Path(named)
    root = given.get("XDG_STATE_HOME")
    if not root or not os.path.isabs(root):  # noqa: PTH117  (a relative one is to be ignored)
        root = os.path.expanduser("~/.local/state")  # noqa: PTH111  (pathlib raises where there is no home)
    return Path(root) / "agentdyno"


def host_id(folder: Path | None = None) -> str:
    """16 random hexadecimal digits that this host keeps; "" where they cannot be kept. Never raises."""
    file = (folder or state_folder()) / "host_id"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _create(file, secrets.token_hex(8))
        known = file.read_text().strip()
    except (OSError, ValueError) as error:
        log.debug("this host has no id: %s", error)
        return ""
    if not _ID.fullmatch(known):
        log.debug("%s holds no id of a host", file)
        return ""
    return known


def _create(file: Path, text: str) -> None:
    """The whole file at once, and only where there is none: two first runs at the same time agree on one id."""
    if file.exists():
        raise FileExistsError
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "w") as written:
            written.write(text + "\n")
        os.link(name, file)
    finally:
        os.unlink(name)  # noqa: PTH108


def read_state(folder: Path | None = None) -> HostState:
    """What is known of this host; nothing where the file cannot be read."""
    file = (folder or state_folder()) / "host.json"
    try:
        return from_plain(HostState, json.loads(file.read_text()))
    except FileNotFoundError:
        return HostState()
    except (OSError, ValueError, TypeError) as error:
        log.debug("what is known of this host cannot be read: %s", error)
        return HostState()


def keep_standard(key: str, standard: ReferenceStandard, folder: Path | None = None) -> ReferenceStandard:
    """The standard that holds from now on: a first run only adds what no other has measured."""
    state = read_state(folder)
    known = state.standards.get(key)
    if standard.source == "first run" and known is not None:
        if standard.seconds.keys() <= known.seconds.keys():
            return known
        standard = replace(known, seconds={**standard.seconds, **known.seconds})
    _write(replace(state, standards={**state.standards, key: standard}), folder)
    return standard


def keep_ways(ways: Mapping[str, str], folder: Path | None = None) -> None:
    """What was learned of these subjects takes the place of what was known of them."""
    state = read_state(folder)
    _write(replace(state, ways={**state.ways, **ways}), folder)


def keep_spread(key: str, spread: CalibratedSpread, folder: Path | None = None) -> None:
    """Takes the place of what was measured before."""
    state = read_state(folder)
    _write(replace(state, spreads={**state.spreads, key: spread}), folder)


def _write(state: HostState, folder: Path | None) -> None:
    file = (folder or state_folder()) / "host.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w") as written:
            written.write(encode(state, indent=1) + "\n")
        os.replace(name, file)  # noqa: PTH105
    except OSError as error:
        log.debug("what was learned about this host cannot be kept: %s", error)
