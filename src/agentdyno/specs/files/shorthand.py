"""The short spellings that a spec file may use, brought to the one form that its models check."""

from __future__ import annotations

from pydantic_core import PydanticCustomError

from agentdyno.settings.run import MAX_ITERATIONS
from agentdyno.specs.files.problems import got

_PRINTABLE = "Use printable characters on one line."


def refuse(message: str, remedy: str, key: str = "") -> PydanticCustomError:
    """A refusal with its remedy; ``key`` is the dotted key below the place that is being checked."""
    return PydanticCustomError("dyno", "{message}", {"message": message, "remedy": remedy, "key": key})


def check_line(value: object) -> object:
    """Text must be printable and on one line."""
    if isinstance(value, str) and (not value.strip() or not value.isprintable()):
        raise refuse(f"expected text on one line, got {value[:60]!r}", _PRINTABLE)
    return value


def check_reference(value: object) -> object:
    """An experiment must read as a name, ``path/file.py@name`` or ``module:attribute``."""
    check_line(value)
    if not isinstance(value, str):
        return value
    file, at, name = value.rpartition("@")
    module, colon, attribute = value.partition(":")
    if at and not (file.endswith(".py") and name):
        raise refuse(f"expected path/file.py@name, got {value[:60]!r}", "Write for example bench/sort.py@quick_sort.")
    if not at and colon and not (module and attribute):
        raise refuse(f"expected module:attribute, got {value[:60]!r}", "Write for example package.module:Experiment.")
    return value


def check_entry_name(value: object) -> object:
    """Names of entries stand before ``parameter=value`` in names of arms, so that they must be told from those."""
    check_line(value)
    if isinstance(value, str) and (set(value) & set("=#[]") or value != value.strip()):
        raise refuse(f"expected a name without any of = # [ ], got {value[:60]!r}", "Write for example `by_context`.")
    return value


def check_version(value: object) -> object:
    """A bare 1.10 would be the number 1.1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise refuse(f"expected text, got {got(value)}", f'Put it in quotes: "{value}".')
    return value


def spell_iterations(value: object) -> object:
    """``10`` and ``auto`` as the mappings that they stand for."""
    if value == "auto" and isinstance(value, str):
        return {"auto": {}}
    if isinstance(value, bool) or not isinstance(value, int):
        if isinstance(value, dict):
            return value
        raise refuse(
            f"expected a mapping, a number or auto, got {got(value)}",
            "Write for example `iterations: {warmup: 1, measured: 10}`, `iterations: 10` or `iterations: auto`.",
        )
    if not 1 <= value <= MAX_ITERATIONS:
        raise refuse(f"expected 1 to {MAX_ITERATIONS:,}, got {value}", "Give the number of measured iterations.")
    return {"measured": value}


def spell_auto(value: object) -> object:
    """``auto: true`` as the mapping that it stands for."""
    return {} if value is True else value


def spell_instrument(value: object) -> object:
    """A bare name as the mapping that it stands for."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict):
        if "name" not in value:
            raise refuse(
                f"expected a name among the keys, got {', '.join(map(repr, value)) or 'none'}"[:200],
                "Write options beside the name, as in `{name: psutil, interval_s: 0.1}`.",
            )
        return value
    raise refuse(
        f"expected an instrument's name, or a mapping with its name and options, got {got(value)}",
        "Write for example `- timing` or `- {name: psutil, interval_s: 0.1}`.",
    )


def spell_gc(value: object) -> object:
    """``off`` is false to readers of YAML 1.1."""
    return "off" if value is False else value


def spell_inner_loops(value: object) -> object:
    """``auto`` as 0."""
    return 0 if value == "auto" and isinstance(value, str) else _positive_loops(value)


def _positive_loops(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise refuse(f"expected auto or an integer of at least 1, got {got(value)}", "Write `inner_loops: auto`.")
    return value


def spell_names(value: object) -> object:
    """``a, b`` as the list that it stands for."""
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value
