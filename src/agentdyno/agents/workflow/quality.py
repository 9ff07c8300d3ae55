"""How good the commands of a plan are, without running them: parsed, looked through, checked by shellcheck.

bashlex and shellcheck come with the extra ``workflows``. Without them what they would say is unknown, and never 0.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.agents.workflow.plan import WorkflowPlan
from agentdyno.sandbox.isolation import chosen_environment

_TIMEOUT_S = 20.0
_BUILT_IN = frozenset(
    [
        "alias",
        "bg",
        "bind",
        "break",
        "builtin",
        "caller",
        "cd",
        "command",
        "compgen",
        "complete",
        "continue",
        "declare",
        "dirs",
        "disown",
        "echo",
        "enable",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "getopts",
        "hash",
        "help",
        "history",
        "jobs",
        "kill",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readarray",
        "readonly",
        "return",
        "set",
        "shift",
        "shopt",
        "source",
        "suspend",
        "test",
        "times",
        "trap",
        "true",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
        "[",
        "[[",
        ":",
        ".",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "in",
        "function",
        "{",
        "}",
        "!",
        "time",
    ]
)
DANGEROUS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("removes from the root or the home folder", re.compile(r"\brm\s+(-\w+\s+)*-\w*[rf]\w*\s+(/(\s|\*|$)|~|\$HOME)")),
    ("writes to a device", re.compile(r"(>|\bof=)\s*/dev/(sd|nvme|hd|vd|mapper)")),
    ("makes a file system", re.compile(r"\bmkfs(\.\w+)?\b")),
    ("runs what it downloads", re.compile(r"\b(curl|wget)\b[^|;&]*\|\s*(sudo\s+)?(ba|z|da)?sh\b")),
    ("asks for more rights", re.compile(r"\b(sudo|su|doas|pkexec)\b")),
    ("opens files to everybody", re.compile(r"\bchmod\s+(-\w+\s+)*0?777\b")),
    ("starts itself without end", re.compile(r":\s*\(\s*\)\s*\{.*:\s*\|\s*:")),
    ("kills every process", re.compile(r"\bkill\s+(-\w+\s+)?-1\b|\bkillall\b")),
    ("reads secrets", re.compile(r"/etc/shadow|\.ssh/|id_rsa|\.aws/credentials")),
    ("runs text as a command", re.compile(r"\beval\b")),
    ("opens a connection", re.compile(r"/dev/tcp/|\bnc\s+-")),
)


@dataclass(frozen=True, slots=True)
class CommandQuality:
    """``None`` is unknown. ``unknown_tools`` are not installed where commands run; ``unparsed`` are steps whose
    command is no shell; ``findings`` are what shellcheck says, by code."""

    commands: int
    average_length: float
    tools: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    unknown_tools: tuple[str, ...] = ()
    dangerous: tuple[str, ...] = ()
    unparsed: tuple[str, ...] | None = None
    findings: dict[str, int] | None = field(default=None)

    def readings(self) -> dict[str, float]:
        found = {
            "commands.count": float(self.commands),
            "commands.average_length": self.average_length,
            "commands.tools": float(len(self.tools)),
            "commands.unknown_tools": float(len(self.unknown_tools)),
            "commands.dangerous": float(len(self.dangerous)),
        }
        if self.unparsed is not None:
            found["commands.unparsed"] = float(len(self.unparsed))
        if self.findings is not None:
            found["commands.shellcheck_findings"] = float(sum(self.findings.values()))
        return found

    def plain(self) -> dict[str, object]:
        """What a reader wants to see of it."""
        return {
            "tools": list(self.tools),
            "flags": list(self.flags),
            "unknown_tools": list(self.unknown_tools),
            "dangerous": list(self.dangerous),
            "unparsed": None if self.unparsed is None else list(self.unparsed),
            "shellcheck": self.findings,
        }


def command_quality(plan: WorkflowPlan) -> CommandQuality:
    """Looks at every command of a plan; files named in it that the plan makes count as known tools."""
    commands = [step.command for step in plan.steps]
    words = [_words(command) for command in commands]
    tools = sorted({tool for found in words if found is not None for tool, _ in found})
    flags = sorted({flag for found in words if found is not None for _, options in found for flag in options})
    made = {Path(path).name for step in plan.steps for path in step.outputs}
    path = chosen_environment()["PATH"]
    unknown = [
        tool
        for tool in tools
        if tool not in _BUILT_IN and "/" not in tool and tool not in made and shutil.which(tool, path=path) is None
    ]
    dangerous = [f"{step.id}: {what}" for step in plan.steps for what, form in DANGEROUS if form.search(step.command)]
    parsed = _have_bashlex()
    unparsed = tuple(step.id for step, found in zip(plan.steps, words, strict=True) if found is None)
    return CommandQuality(
        len(commands),
        sum(len(command) for command in commands) / len(commands),
        tuple(tools),
        tuple(flags),
        tuple(unknown),
        tuple(dangerous),
        unparsed if parsed else None,
        _shellcheck(commands),
    )


def _have_bashlex() -> bool:
    try:
        import bashlex  # noqa: F401
    except ImportError:
        return False
    return True


def _words(command: str) -> list[tuple[str, list[str]]] | None:
    """The tools of a command with their flags; ``None`` where it is no shell."""
    if not _have_bashlex():
        return list(_guessed(command))
    import bashlex
    from bashlex import ast as nodes

    found: list[tuple[str, list[str]]] = []

    class Visitor(nodes.nodevisitor):  # type: ignore[misc]
        def visitcommand(self, _node: object, parts: Sequence[object]) -> bool:
            words = [str(getattr(part, "word", "")) for part in parts if getattr(part, "kind", "") == "word"]
            if words:
                found.append((words[0], [_flag(word) for word in words[1:] if re.match(r"-{1,2}[A-Za-z]", word)]))
            return True

    try:
        for tree in bashlex.parse(command):
            Visitor().visit(tree)
    except NotImplementedError:  # arithmetic and other things that are shell all the same
        return list(_guessed(command))
    except Exception:  # noqa: BLE001  (its parser raises many things for what is no shell, or is beyond it)
        return list(_guessed(command)) if _bash_reads(command) else None
    return found


def _bash_reads(command: str) -> bool:
    """Whether the shell itself can parse it; nothing is executed."""
    try:
        done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _flag(word: str) -> str:
    return word.partition("=")[0][:40]


def _guessed(command: str) -> Iterator[tuple[str, list[str]]]:
    """First words of the parts of a command line, for when nothing better is there."""
    for part in re.split(r"[|;&\n]+", command):
        words = [word for word in part.split() if "=" not in word or word.startswith("-")]
        if words and re.fullmatch(r"[\w.+-]+", words[0]):
            yield words[0], [_flag(word) for word in words[1:] if re.match(r"-{1,2}[A-Za-z]", word)]


def _shellcheck(commands: Sequence[str]) -> dict[str, int] | None:
    """Findings by code; ``None`` where there is no shellcheck. Notes on style are left out."""
    program = shutil.which("shellcheck") or _beside_python()
    if program is None:
        return None
    counts: dict[str, int] = {}
    script = "#!/bin/bash\n" + "\n".join(f"(\n{command}\n)" for command in commands) + "\n"
    try:
        done = subprocess.run(
            [program, "--format=json", "--severity=info", "--shell=bash", "-"],
            input=script.encode("utf-8", "replace"),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        rows = json.loads(done.stdout or b"[]")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    for row in rows:
        counts[f"SC{row['code']}"] = counts.get(f"SC{row['code']}", 0) + 1
    return counts


def _beside_python() -> str | None:
    import sys

    found = Path(sys.executable).with_name("shellcheck")
    return str(found) if found.is_file() else None
