"""Running ``dyno`` as a user does: the installed command, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DYNO = str(Path(sys.executable).with_name("dyno"))


@dataclass(frozen=True)
class Done:
    """What a finished command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Bench:
    """A folder with a store of its own in which commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            **{key: value for key, value in os.environ.items() if not key.startswith("DYNO_")},
            "XDG_CACHE_HOME": str(folder / ".cache"),
            "COLUMNS": "100",
        }

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def dyno(self, *arguments: str, **environ: str) -> Done:
        done = subprocess.run(
            [DYNO, *arguments],
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in the background."""
        return subprocess.Popen(
            [DYNO, *arguments],
            cwd=self.folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
        subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True)
