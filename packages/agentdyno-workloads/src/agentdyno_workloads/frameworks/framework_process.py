"""A framework at work in its own environment, and the scripted model that it asks: both in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from agentdyno import PluginError, RunError, SpecError
from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS

ENVIRONMENTS = ".venv-frameworks"
QUIET = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OPENAI_API_KEY": "none",
}
"""Frameworks that tell their makers about every run would measure that, too."""
PATIENCE_S = 10.0
"""How long a process may take to end once it is asked to."""


def check_framework(name: str, known: tuple[str, ...] = tuple(SUBJECTS)) -> None:
    if name not in known:
        remedy = f"Known: {', '.join(known)}."
        raise SpecError(f"no framework {name!r}", where="params.framework", remedy=remedy)


class ScriptedModel:
    """``dyno model simulate`` without latency, which repeats what it is told and calls the tools that it is named."""

    def __init__(self, *options: str) -> None:
        dyno = Path(sys.executable).with_name("dyno")
        given = ("--port", "0", "--ttft", "0", "--itl", "0", "--echo", *options)
        self._process = _started([str(dyno), "model", "simulate", *given], dict(os.environ))
        line = self._process.stdout.readline() if self._process.stdout else ""
        found = re.search(r"http://\S+", line)
        if found is None:
            self.close()
            raise RunError("the simulated model did not start", remedy="`dyno model simulate` says why.")
        self._address = found.group()

    @property
    def url(self) -> str:
        return f"{self._address}/v1"

    def requests(self) -> list[dict[str, Any]]:
        """What it was asked since the last reset, in order."""
        with urllib.request.urlopen(f"{self._address}/dyno/log", timeout=10) as answer:
            return [json.loads(line) for line in answer.read().splitlines()]

    def reset(self) -> None:
        """Forgets its log, and meets the next requests with the faults that it was started with."""
        asked = urllib.request.Request(f"{self._address}/dyno/log", method="DELETE")
        urllib.request.urlopen(asked, timeout=10).close()

    def close(self) -> None:
        _end(self._process)


class FrameworkProcess:
    """The process of one framework. ``facts`` is what it told of itself when it was ready."""

    def __init__(self, framework: str, environments: str, url: str, model: str = "") -> None:
        check_framework(framework)
        self.framework, self._listed = framework, SUBJECTS[framework]
        self._python = Path(environments).absolute() / self._listed.environment / "bin" / "python"
        if not self._python.exists():
            raise PluginError(
                f"{framework} has no environment {self._python.parent.parent}",
                remedy=f"`scripts/frameworks.sh {self._listed.environment}` makes it; or -p environments=FOLDER.",
            )
        script = Path(__file__).with_name("task_process.py")
        environ = {**os.environ, **QUIET, "OPENAI_BASE_URL": url}
        if model:
            environ["DYNO_FRAMEWORK_MODEL"] = model
        self._process = _started([str(self._python), str(script), framework], environ)
        self.facts = self._told(None)

    @property
    def version(self) -> str:
        """``langgraph 1.2.20``."""
        return f"{self._listed.package} {self.facts['version']}"

    def ask(self, do: str, *texts: str, at_once: int = 1, limit_s: float | None = None) -> dict[str, Any]:
        """What came of it. Raises ``TimeoutError`` after ``limit_s``: the process is of no further use then."""
        return self._asked({"do": do, "texts": texts, "at_once": at_once}, limit_s)

    def use(self, url: str) -> None:
        """Makes an agent for another model, and asks that one from now on."""
        self._asked({"do": "use", "url": url}, None)

    def close(self) -> None:
        _end(self._process)

    def _asked(self, question: dict[str, Any], limit_s: float | None) -> dict[str, Any]:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # its end is told by what it says next
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        return self._told(limit_s)

    def _told(self, limit_s: float | None) -> dict[str, Any]:
        out = self._process.stdout
        assert out is not None
        if limit_s is not None and not select.select([out], [], [], limit_s)[0]:
            raise TimeoutError(f"{self.framework} did not answer within {limit_s:g} s")
        line = out.readline()
        if not line:
            self._process.wait()
            package = self._listed.package.replace("-", "_")
            raise RunError(
                f"the process of {self.framework} ended", remedy=f"Try `{self._python} -c 'import {package}'`."
            )
        told: dict[str, Any] = json.loads(line)
        return told


_TIED = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15); os.execv(sys.argv[1], sys.argv[1:])"
"""Asks the kernel for a SIGTERM when its owner is gone, then becomes the program: a killed run leaves none behind."""


def _started(command: list[str], environ: dict[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    tied = [sys.executable, "-S", "-c", _TIED, *command] if sys.platform == "linux" else command
    return subprocess.Popen(tied, env=environ, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # something unsent for a process that has ended
                pipe.close()
