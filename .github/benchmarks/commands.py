"""How long agentdyno's own commands take, as a user waits for them.

Each call starts a new interpreter on the source tree that this file lies in. With ``--against REVISION`` the file is
taken from a checkout of that revision, and so is the tree: the two sides really run different code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from agentdyno import Experiment, ExperimentContext

SOURCE = Path(__file__).parent.parent.parent / "src"
ARGUMENTS = {
    "help": ["--help"],
    "list": ["list"],
    "run": ["run", "busy", "--iterations", "6", "--warmup", "0"],
}


class Commands(Experiment):
    """Start ``dyno`` and wait for its end."""

    def __init__(self, command: Literal["help", "list", "run"] = "help") -> None:
        super().__init__({"command": command})

    def setup(self, context: ExperimentContext) -> None:
        self.folder = TemporaryDirectory(prefix="dyno-commands-")
        self.environ = {**os.environ, "PYTHONPATH": str(SOURCE), "DYNO_STORE": f"{self.folder.name}/dyno.db"}
        self.call = [sys.executable, "-m", "agentdyno.cli.main", *ARGUMENTS[self.params["command"]]]
        found = self._run([sys.executable, "-c", "import agentdyno; print(agentdyno.__file__)"])
        if not Path(found.strip()).is_relative_to(SOURCE):
            raise AssertionError(f"measures {found}, not {SOURCE}")
        text = b"".join(path.read_bytes() for path in sorted(SOURCE.rglob("*.py")))
        context.observe(command=self.params["command"], code=sha256(text).hexdigest()[:16])

    def execute_once(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._run(self.call)

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self.folder.name, env=self.environ, capture_output=True, text=True, check=True
        )
        return done.stdout
