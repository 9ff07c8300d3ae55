"""A document with ``commands:`` as a spec: one entry for each command and combination of parameters."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentdyno.errors import SpecError
from agentdyno.model.spec import AutoStop, Entry, Iterations, Limits, Order, Spec
from agentdyno.settings.commands import (
    COMMAND_INPUT,
    COMMAND_OUTPUT,
    MAX_RUNS,
    MIN_RUNS,
    SHELL,
    WARMUP_RUNS,
)
from agentdyno.settings.run import SEED
from agentdyno.specs.changes import COMMAND_LINE
from agentdyno.specs.commands.scan import combinations, filled, refuse_unused
from agentdyno.specs.files.problems import FileProblem, got, spec_error

COMMAND = "command"
"""What stands as the experiment of an arm that is a command."""
NO_SHELL = "none"
_NAME_LENGTH = 60
_NEEDS_SHELL = frozenset("|&;<>()$`*?[]#~\n")
_BUILT_IN = frozenset(
    [
        ".",
        ":",
        "alias",
        "bg",
        "break",
        "case",
        "cd",
        "command",
        "continue",
        "eval",
        "exec",
        "exit",
        "export",
        "fg",
        "for",
        "function",
        "getopts",
        "hash",
        "if",
        "jobs",
        "local",
        "read",
        "readonly",
        "return",
        "set",
        "shift",
        "source",
        "time",
        "times",
        "trap",
        "type",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "until",
        "wait",
        "while",
        "[[",
    ]
)
"""Words that mean something to a shell only; what is a program too (``echo``, ``test``) is taken for that."""


def load_commands(path: Path, *, quick: bool = False, overrides: Mapping[str, object] | None = None) -> Spec:
    """The commands in a YAML or JSON file; ``overrides`` is a document of the same form. Raises ``SpecError``."""
    from agentdyno.specs.files.read import read_document

    document = read_document(path)
    if not isinstance(document, Mapping):
        problem = FileProblem("", f"expected a mapping at the top, got {got(document)}", "Write `commands:`.")
        raise spec_error(str(path), [problem])
    layers = [document.get("quick", {})] if quick else []
    return parse_commands({**document, **_merged(layers), **(overrides or {})}, source=str(path), path=path)


def parse_commands(document: Mapping[str, object], *, source: str = COMMAND_LINE, path: Path | None = None) -> Spec:
    """The commands in a mapping of the file format's form; relative paths are those of the current folder."""
    from agentdyno.specs.commands.format import CommandsFile
    from agentdyno.specs.files.plain import plain_document
    from agentdyno.specs.files.validate import validate_as

    plain = plain_document(document, source)
    assert isinstance(plain, dict), "made from a mapping"
    settled = validate_as(CommandsFile, plain, source)
    commands: list[str] = settled["commands"]
    for place, command in enumerate(commands):
        if not command.strip():
            raise SpecError("a command without anything in it", where=f"{source}: commands[{place}]")
    parameters: dict[str, list[object]] = settled.get("parameters", {})
    refuse_unused(parameters, commands, f"{source}: parameters")
    entries = _entries(settled, commands, combinations(parameters), source)
    return Spec(
        name=settled.get("name") or (path.stem if path is not None else _run_name(commands)),
        entries=entries,
        tags=tuple(settled.get("tags", ())),
        notes=settled.get("notes", ""),
        seed=settled.get("seed", SEED.default),
        order=_order(settled, entries),
        max_failure_rate=1.0,
        limits=Limits(timeout_s=settled.get("timeout_s")),
        base_dir=str(Path.cwd()),
        source=source,
    )


def argv_of(command: str, shell: str) -> list[str]:
    """What is started for a command; raises ``SpecError`` for a text that has an open quotation mark."""
    if shell != NO_SHELL:
        return [*shlex.split(shell), "-c", command]
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SpecError(
            f"{command!r} cannot be divided into words: {error}",
            remedy="Close the quotation mark, or let a shell read it: --shell sh.",
        ) from None


def needs_shell(command: str) -> bool:
    """Whether something in it is a shell's: signs, words of its language, a program that is nowhere on the path."""
    if _NEEDS_SHELL & set(command):
        return True
    try:
        words = shlex.split(command)
    except ValueError:
        return True
    return not words or "=" in words[0] or words[0] in _BUILT_IN or shutil.which(words[0]) is None


def _merged(layers: Sequence[object]) -> dict[str, object]:
    return {key: value for layer in layers if isinstance(layer, Mapping) for key, value in layer.items()}


def _run_name(commands: Sequence[str]) -> str:
    words = dict.fromkeys(Path(command.split()[0]).name for command in commands)
    name = " and ".join(list(words)[:3])
    return name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1]}…"


def _entries(
    settled: Mapping[str, Any], commands: Sequence[str], combos: Sequence[Mapping[str, object]], source: str
) -> tuple[Entry, ...]:
    prepares = _one_each(settled.get("prepare", ()), commands, f"{source}: prepare")
    names = _names(settled.get("names", ()), commands, combos, source)
    texts = [filled(command, combo) for command in commands for combo in combos]
    shell = _shell(settled.get("shell", SHELL.default), texts)
    iterations = _iterations(settled)
    times: Counter[str] = Counter()
    entries = []
    for place, command in enumerate(commands):
        for combo in combos if "{" in command else combos[:1]:
            text = filled(command, combo)
            params: dict[str, object] = {"command": text, "shell": shell, **_without_defaults(settled)}
            for key, around in (
                ("setup", settled.get("setup", "")),
                ("prepare", prepares[place]),
                ("cleanup", settled.get("cleanup", "")),
            ):
                if around:
                    params[key] = filled(around, combo)
            if combo:
                params["parameters"] = dict(combo)
            times[text] += 1
            if times[text] > 1:
                params["copy"] = times[text]
            name = filled(names[place], combo) if names else text
            if times[text] > 1 and not names:
                name = f"{text} ({times[text]})"
            entries.append(Entry(COMMAND, params, iterations=iterations, name=name))
    return tuple(entries)


def _without_defaults(settled: Mapping[str, Any]) -> dict[str, object]:
    given: dict[str, object] = {}
    for setting in (COMMAND_INPUT, COMMAND_OUTPUT):
        value = settled.get(setting.name, setting.default)
        if value != setting.default:
            given[setting.name] = value
    if settled.get("ignore_failure"):
        given["ignore_failure"] = True
    return given


def _one_each(texts: Sequence[str], commands: Sequence[str], where: str) -> list[str]:
    """As many as there are commands."""
    if len(texts) <= 1:
        return [texts[0] if texts else ""] * len(commands)
    if len(texts) != len(commands):
        raise SpecError(
            f"{len(texts)} for {len(commands)} commands", where=where, remedy="Give one, or one for each command."
        )
    return list(texts)


def _names(
    names: Sequence[str], commands: Sequence[str], combos: Sequence[Mapping[str, object]], source: str
) -> list[str]:
    if len(names) > len(commands):
        raise SpecError(
            f"{len(names)} names for {len(commands)} commands",
            where=f"{source}: names",
            remedy="Remove some; with parameters a name may hold {parameter}, too.",
        )
    if not names:
        return []
    varying = [name for name in (combos[0] if combos else {}) if len({str(combo[name]) for combo in combos}) > 1]
    own = [name if not varying or "{" in name else " ".join([name, *(f"{{{v}}}" for v in varying)]) for name in names]
    return [*own, *commands[len(names) :]]


def _shell(asked: str, texts: Sequence[str]) -> str:
    if asked == "auto":
        return "sh" if any(needs_shell(text) for text in texts) else NO_SHELL
    if asked != NO_SHELL and shutil.which((shlex.split(asked) or [""])[0]) is None:
        raise SpecError(f"no shell {asked!r} on the path", where="--shell", remedy="Write for example --shell bash.")
    return asked


def _iterations(settled: Mapping[str, Any]) -> Iterations:
    warmup, runs = settled.get("warmup", WARMUP_RUNS.default), settled.get("runs")
    if runs is not None:
        return Iterations(warmup=warmup, measured=runs)
    fewest = settled.get("min_runs", MIN_RUNS.default)
    most = settled.get("max_runs", MAX_RUNS.default)
    if "min_runs" not in settled:
        fewest = min(fewest, most)
    elif "max_runs" not in settled:
        most = max(fewest, most)
    if most < fewest:
        raise SpecError(
            f"at least {fewest} runs and at most {most} cannot both be", where="max_runs", remedy="Raise max_runs."
        )
    return Iterations(warmup=warmup, measured=most, auto=AutoStop(minimum=fewest, maximum=most))


def _order(settled: Mapping[str, Any], entries: Sequence[Entry]) -> Order:
    """One after the other where each has a setup of its own: the next one's would undo it."""
    if len({entry.params.get("setup") for entry in entries}) > 1:
        return Order.SEQUENTIAL
    return Order(settled.get("order", Order.INTERLEAVED))
