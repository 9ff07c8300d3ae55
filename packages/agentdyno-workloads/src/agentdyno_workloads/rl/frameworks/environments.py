"""The environment of each framework: an interpreter of its own, made from pinned requirements when first needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from agentdyno import PluginError, SpecError
from agentdyno_workloads.rl.catalogue import unknown_name

FOLDER = Path(__file__).parent
INSTALL_S = 3600.0
_COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class TrainingFramework:
    """A framework by the file that integrates the task; without requirements it runs in the bench's interpreter."""

    name: str
    script: str
    requirements: str = ""
    what: str = ""

    @property
    def integration(self) -> Path:
        return FOLDER / "integrations" / self.script

    @property
    def pinned(self) -> Path | None:
        return FOLDER / "requirements" / self.requirements if self.requirements else None


FRAMEWORKS = {
    item.name: item
    for item in (
        TrainingFramework("own", "own.py", "own.txt", "GRPO of agentdyno-workloads"),
        TrainingFramework("trl", "trl_grpo.py", "trl.txt", "GRPO of TRL"),
        TrainingFramework("rllib", "rllib_ppo.py", "rllib.txt", "PPO of Ray RLlib"),
        TrainingFramework("custom", "custom.py", "", "REINFORCE by hand in numpy"),
    )
}


def framework_named(name: str) -> TrainingFramework:
    """Raises ``SpecError`` with the nearest name."""
    if name not in FRAMEWORKS:
        raise unknown_name("framework", name, tuple(FRAMEWORKS))
    return FRAMEWORKS[name]


def interpreter_of(framework: TrainingFramework, *, stub: bool, environment: str = "") -> str:
    """The Python that runs it: the one that is named, the cached one, or one that is made now.

    Raises ``PluginError`` with the command that makes it by hand where that does not work, as without a network.
    """
    if environment:
        python = Path(environment) / "bin" / "python" if Path(environment).is_dir() else Path(environment)
        if not python.exists():
            raise SpecError(
                f"there is no interpreter at {python}",
                where="params.environment",
                remedy="Name a virtual environment, or leave it out: one is made from pinned requirements.",
            )
        return str(python)
    pinned = framework.pinned
    if pinned is None or (framework.name == "own" and stub):
        return sys.executable
    folder = cached_folder(framework)
    if not (folder / _COMPLETE).exists():
        _create(framework, pinned, folder)
    return str(folder / "bin" / "python")


def cached_folder(framework: TrainingFramework) -> Path:
    """Where its environment is kept; another version of the requirements has another folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    pinned = framework.pinned
    digest = sha256(pinned.read_bytes() if pinned is not None else b"").hexdigest()[:12]
    return cache / "agentdyno" / "rl" / f"{framework.name}-{digest}"


def _create(framework: TrainingFramework, pinned: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    commands = (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r", str(pinned)],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_S)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            shutil.rmtree(folder, ignore_errors=True)
            by_hand = f"{sys.executable} -m venv ENV && ENV/bin/pip install -r {pinned}"
            raise PluginError(
                f"the environment of {framework.name} cannot be made: {said[-1] if said else 'pip failed'}",
                where="params.framework",
                remedy=f"It needs a package index once. By hand: {by_hand}, then environment: ENV.",
            )
    (folder / _COMPLETE).touch()


def integration_lines(framework: TrainingFramework) -> int:
    """Lines of code in the file that is run, without blank ones, comments, and what only tries features."""
    text = framework.integration.read_text(encoding="utf-8").split('"""', 2)[-1]
    before, _, after = text.partition("# Features, tried on request")
    counted = [*before.splitlines(), *after[after.find("channel.serve(") :].splitlines()]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in counted)
