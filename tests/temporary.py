"""Where tests, and all that they start, put files for a while: one folder, which goes with the session of tests.

What is killed cannot clean up after itself, and many tests kill. A worker of xdist takes the folder of its session.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

_VARIABLE = "DYNO_TESTS_TEMPORARY"
_RANDOM = re.compile(r"[-_.]?[a-z0-9_]{8}$")


def use_temporary_folder() -> Path | None:
    """Makes the folder, for this process and those that it starts; ``None`` where another session has made it."""
    if os.environ.get(_VARIABLE) == os.environ.get("TMPDIR", ""):
        return None
    before = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="dyno-t-"))  # short: the path of a socket may have 107 characters
    folder.chmod(0o755)  # a server of PostgreSQL that root starts is another user's
    os.environ[_VARIABLE] = os.environ["TMPDIR"] = str(folder)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", before)  # the folders of failed tests are there to be looked at
    os.environ.setdefault("RAY_TMPDIR", before)  # whose sockets have long names
    tempfile.tempdir = None  # it is found anew
    return folder


def remove_temporary_folder(folder: Path | None) -> str:
    """Removes it, and says what had been left in it; "" where nothing was, or it is another session's."""
    if folder is None:
        return ""
    left = Counter(_RANDOM.sub("", path.name) for path in folder.iterdir())
    shutil.rmtree(folder, ignore_errors=True)
    what = ", ".join(f"{name} ({count})" for name, count in sorted(left.items()))
    return f"Left in the temporary folder, and removed: {what}" if what else ""
