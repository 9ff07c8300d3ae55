"""What is remembered about this host between runs, in the user's state folder.

Machines of one kind share a ``machine_id``; only the ``host_id`` tells them apart. It is random and says nothing about
its owner.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

STATE_VARIABLE = "DYNO_STATE"
"""Names the folder in place of the user's own; for containers whose home does not last."""
_ID = re.compile(r"[0-9a-f]{16}")
log = logging.getLogger("agentdyno.host")


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
