"""Runs a job of GitHub Actions on this machine: its steps, and those of actions that it uses, one after the other.

What is honoured: ``run`` with ``shell``, ``env`` and ``working-directory``, ``if``, ``id``, the files that a step
writes to (``GITHUB_OUTPUT``, ``GITHUB_ENV``, ``GITHUB_PATH``, ``GITHUB_STEP_SUMMARY``), composite actions with inputs
and outputs, and of expressions ``&&``, ``==``, ``!=``, strings, names, ``always()`` and ``hashFiles()``. Anything
else is an error, so that no step is run otherwise than GitHub would.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>[A-Za-z_][\w.-]*)|(?P<sign>&&|==|!=|[(),]))")
_SHELLS = {"": ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\(\)")
_LISTS = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")

Action = Callable[["Job", Mapping[str, str]], None]
"""What stands here for an action of others; it is given the job and its inputs."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A step that was run: what it is called, its exit code, and all that it printed."""

    name: str
    code: int
    said: str


@dataclass(slots=True)
class Scope:
    """What the steps of a job, or of one composite action, share."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    outputs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    failed: bool = False


@dataclass
class Job:
    """``folder`` holds all of it: the checkout in ``workspace``, and what the steps leave.

    ``github`` is the context of that name. ``actions`` are functions, or folders with an ``action.yml``, by what
    stands in ``uses`` before the version.
    """

    folder: Path
    github: Mapping[str, Any]
    actions: Mapping[str, Action | Path]
    environ: dict[str, str]
    ended: list[Ended] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True)
        self.environ |= {
            "GITHUB_REPOSITORY": str(self.github["repository"]),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def summary(self) -> str:
        path = self.folder / "summary.md"
        return path.read_text() if path.exists() else ""

    def run(self, document: Mapping[str, Any], name: str) -> Scope:
        """Runs the job ``name`` of a workflow; what its steps left, and whether one failed."""
        job = document["jobs"][name]
        assert set(job) <= {"runs-on", "steps", "env"}
        scope = Scope(environ={**document.get("env", {}), **job.get("env", {})})
        self._steps(job["steps"], scope)
        return scope

    def step(self, name: str) -> Ended:
        """The step of that name; there has to be exactly one that was run."""
        found = [step for step in self.ended if step.name == name]
        assert len(found) == 1, "\n".join(f"{step.name}: {step.code}\n{step.said}" for step in self.ended)
        return found[0]

    def _steps(self, steps: Sequence[Mapping[str, Any]], scope: Scope) -> None:
        for step in steps:
            known = {"name", "id", "if", "uses", "with", "run", "shell", "env", "working-directory"}
            assert set(step) <= known, f"not known here: {set(step) - known}"
            condition = str(step.get("if", ""))
            if scope.failed and not _STATUS.search(condition):
                continue
            if condition and not self._value(condition, scope):
                continue
            given = {key: self._text(str(value), scope) for key, value in step.get("env", {}).items()}
            if "uses" in step:
                scope.failed |= not self._use(step, scope, given)
            else:
                scope.failed |= not self._script(step, scope, given)

    def _use(self, step: Mapping[str, Any], scope: Scope, given: Mapping[str, str]) -> bool:
        action = self.actions[step["uses"].partition("@")[0]]
        words = {key: self._text(_plain(value), scope) for key, value in step.get("with", {}).items()}
        if not isinstance(action, Path):
            action(self, words)
            return True
        described = yaml.safe_load((action / "action.yml").read_text())
        unknown = set(words) - set(described["inputs"])
        assert not unknown, f"{action} has no inputs {unknown}"
        inputs = {name: words.get(name, _plain(one.get("default", ""))) for name, one in described["inputs"].items()}
        environ = {**scope.environ, **given, "GITHUB_ACTION_PATH": str(action)}
        inner = Scope(inputs, environ)
        self._steps(described["runs"]["steps"], inner)
        if "id" in step:
            told = described.get("outputs", {})
            scope.outputs[step["id"]] = {name: self._text(one["value"], inner) for name, one in told.items()}
        return not inner.failed

    def _script(self, step: Mapping[str, Any], scope: Scope, given: Mapping[str, str]) -> bool:
        lists = {name: self.folder / f"{len(self.ended)}-{name}" for name in _LISTS}
        for path in lists.values():
            path.touch()
        script = self.folder / f"{len(self.ended)}.sh"
        script.write_text(self._text(step["run"], scope))
        paths = {name: str(path) for name, path in lists.items()}
        done = subprocess.run(
            [*_SHELLS[step.get("shell", "")], str(script)],
            cwd=self.workspace / step.get("working-directory", "."),
            env={**self.environ, **scope.environ, **given, **paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.ended.append(Ended(step.get("name", step["run"]), done.returncode, done.stdout))
        self.environ.update(_pairs(lists["GITHUB_ENV"]))
        for folder in lists["GITHUB_PATH"].read_text().splitlines():
            self.add_path(Path(folder))
        if "id" in step:
            scope.outputs[step["id"]] = _pairs(lists["GITHUB_OUTPUT"])
        return done.returncode == 0

    def add_path(self, folder: Path) -> None:
        """Puts a folder in front of where programs are looked for."""
        self.environ["PATH"] = f"{folder}{os.pathsep}{self.environ['PATH']}"

    def _text(self, text: str, scope: Scope) -> str:
        return _EXPRESSION.sub(lambda found: _plain(self._value(found[1], scope)), text)

    def _value(self, expression: str, scope: Scope) -> Any:
        bare = _EXPRESSION.sub(lambda found: found[1], expression).strip()
        tokens, at = [], 0
        while at < len(bare):
            found = _TOKEN.match(bare, at)
            assert found, f"not known here: {bare[at:]}"
            tokens.append(found)
            at = found.end()
        return _Reader(tokens, self, scope).whole()

    def named(self, name: str, scope: Scope) -> Any:
        """The value of a name as ``github.base_ref``. Nobody has secrets here."""
        context, _, rest = name.partition(".")
        if context == "secrets":
            return ""
        steps = {key: {"outputs": told} for key, told in scope.outputs.items()}
        value: Any = {"github": self.github, "inputs": scope.inputs, "steps": steps, "runner": {"os": "Linux"}}[
            context
        ]
        for part in rest.split("."):
            value = value[part]
        return value

    def hashed(self, patterns: Sequence[str]) -> str:
        """What ``hashFiles`` gives: empty where no file matches."""
        files = sorted({file for pattern in patterns for file in self.workspace.glob(pattern)})
        return sha256(b"".join(file.read_bytes() for file in files)).hexdigest() if files else ""


@dataclass
class _Reader:
    """Reads an expression from left to right; ``&&`` binds less than ``==``."""

    tokens: list[re.Match[str]]
    job: Job
    scope: Scope
    at: int = 0

    def whole(self) -> Any:
        value = self._compared()
        while self._takes("&&"):
            right = self._compared()
            value = right if value else value
        assert self.at == len(self.tokens), "an expression goes on"
        return value

    def _compared(self) -> Any:
        left = self._single()
        for sign in ("==", "!="):
            if self._takes(sign):
                return (_plain(left) == _plain(self._single())) is (sign == "==")
        return left

    def _single(self) -> Any:
        token = self.tokens[self.at]
        self.at += 1
        if token["text"] is not None:
            return token["text"][1:-1].replace("''", "'")
        assert token["name"] is not None, f"not known here: {token[0]}"
        if not self._takes("("):
            return self.job.named(token["name"], self.scope)
        words = list(self._words())
        if token["name"] == "always":
            return True
        assert token["name"] == "hashFiles", f"not known here: {token['name']}()"
        return self.job.hashed(words)

    def _words(self) -> Iterator[str]:
        while not self._takes(")"):
            yield _plain(self._single())
            self._takes(",")

    def _takes(self, sign: str) -> bool:
        taken = self.at < len(self.tokens) and self.tokens[self.at]["sign"] == sign
        self.at += taken
        return taken


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pairs(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())
