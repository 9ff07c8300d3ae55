"""From a case to a command's arguments, input and environment, and from what it printed to a response."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from agentdyno.agents.hosting.answer import RESPONSE_KEYS, read_response
from agentdyno.errors import PluginError, SpecError, nearest
from agentdyno.model.case import Case, Response

PLACEHOLDER = "{input}"
PASSED_ON = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL", "TERM"})
"""What a command sees of the environment besides the variables that are named for it; ``LC_*`` come along."""


def split_command(text: str, where: str) -> tuple[str, ...]:
    """What stands after ``cmd:`` or ``stdio:``, split as a shell would."""
    try:
        argv = tuple(shlex.split(text))
    except ValueError as error:
        raise SpecError(f"cannot be split into arguments: {error}", where=where, remedy="Close the quotes.") from None
    if not argv:
        raise SpecError("there is no command after the colon", where=where, remedy="For example: cmd:python3 bot.py")
    return argv


def with_placeholder(argv: tuple[str, ...], how: str) -> tuple[str, ...]:
    if how == "argv" and not any(PLACEHOLDER in item for item in argv):
        return (*argv, PLACEHOLDER)
    return argv


def input_text(case: Case) -> str:
    """The input as text; a conversation is a JSON list of the user's messages, other values are JSON."""
    value = list(case.turns) if case.turns else case.input
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def read_answer(text: str) -> Response:
    """Standard output as a response. A JSON object alone is the answer itself, unless it gives ``output``."""
    answer = text.rstrip("\r\n")
    before, _, last = answer.rpartition("\n")
    if last.startswith("{") and last.endswith("}"):
        try:
            told = json.loads(last)
            if told and told.keys() <= RESPONSE_KEYS and ("output" in told or before.strip()):
                return read_response({"output": before.rstrip("\r\n"), **told})
        except (ValueError, TypeError, RecursionError):
            pass  # an answer that happens to look like it
    return Response(output=answer)


def command_environment(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """The few variables that programs need and those named, so that no secret reaches what did not ask for it."""
    wanted = {*PASSED_ON, *names}
    return {key: value for key, value in environ.items() if key in wanted or key.startswith("LC_")}


def check_executable(program: str, cwd: str, path: str, where: str) -> None:
    """Raises ``PluginError`` with the nearest names where the program cannot be found or executed."""
    if not Path(cwd).is_dir():
        raise PluginError(f"no folder {cwd}", where=where, remedy="Check `cwd` in the agent's config.")
    if os.sep not in program:
        if shutil.which(program, path=path) is None:
            known = [name for folder in path.split(os.pathsep) for name in _names(Path(folder))]
            beside = [f"./{name}" for name in _names(Path(cwd)) if name == program]
            remedy = f"Did you mean {beside[0]}?" if beside else _near(program, known, "PATH")
            raise PluginError(f"command not found: {program}", where=where, remedy=remedy)
        return
    file = Path(cwd) / program
    if not file.is_file():
        remedy = _near(file.name, _names(file.parent), str(file.parent))
        raise PluginError(f"command not found: {program}", where=where, remedy=remedy)
    if not os.access(file, os.X_OK):
        raise PluginError(f"{program} is not executable", where=where, remedy=f"chmod +x {shlex.quote(str(file))}")


def _near(name: str, known: list[str], place: str) -> str:
    remedy = nearest(name, known)
    return remedy if remedy.startswith("Did you mean") else f"Nothing of a similar name is in {place}."


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
