"""Compiles the reader of streamed answers while agentdyno is installed.

Where that is not possible it is left out, one line says so, and the load client reads answers in Python.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/agentdyno/load/client"
NAME = "_stream_reader"
LEFT_OUT = "agentdyno is installed without its compiled reader; loads read answers in Python, at a lower rate: {why}"


class NotCompiled(Exception):
    """There is no compiler, or it did not succeed; the text says which."""


def compiler() -> list[str]:
    """The command that links an extension of this Python, with the compiler that there is. Raises ``NotCompiled``."""
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise NotCompiled("the headers of this Python are not installed")
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    for wanted in (shlex.split(os.environ.get("CC", "")), linker[:1], ["cc"]):
        if wanted and shutil.which(wanted[0]):
            return [*wanted, *linker[1:]]
    raise NotCompiled("there is no C compiler")


def compile_reader(root: Path, folder: Path, flags: Sequence[str] = ()) -> Path:
    """Compiles the reader into ``folder``. Raises ``NotCompiled``."""
    target = folder / f"{NAME}{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"
    include = sysconfig.get_path("include")
    own = shlex.split(f"{sysconfig.get_config_var('CFLAGS') or ''} {sysconfig.get_config_var('CCSHARED') or ''}")
    given = shlex.split(os.environ.get("CFLAGS", ""))
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        made = Path(beside) / target.name
        source = root / FOLDER / f"{NAME}.c"
        command = [*compiler(), *own, *given, *flags, f"-I{include}", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotCompiled(f"{command[0]} failed: {done.stderr.strip().splitlines()[-1:]}")
        made.replace(target)  # never written in place: somebody may be running it
    return target


class CompiledReader(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls: an editable installation gets the reader beside its source, a wheel holds it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        self._folder = None if version == "editable" else tempfile.mkdtemp()
        try:
            made = compile_reader(root, Path(self._folder or root / FOLDER))
        except (NotCompiled, OSError) as error:
            self.app.display_warning(LEFT_OUT.format(why=error))
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if self._folder is not None:
            build_data["force_include"][str(made)] = f"{FOLDER.removeprefix('src/')}/{made.name}"

    def finalize(self, *_: object) -> None:
        if self.target_name == "wheel" and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
