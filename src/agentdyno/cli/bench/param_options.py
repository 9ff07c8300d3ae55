"""Options of ``dyno run`` that are parameters of what it runs: ``--episodes 100`` is ``-p episodes=100``.

What stands behind the name of a spec or an experiment and is no option of ours is taken for one of its parameters. A
flag without a value is true. Several words are several values, to be run through; ``--algorithms grpo ppo`` says so
of the parameter ``algorithm`` where the file has that and no ``algorithms``, and ``all`` leaves the file's values.
``--report html|json|both`` is another way to say ``--format``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

import click

EVERYTHING = "all"
REPORTS = {"html": "results_html", "json": "results_json", "both": "results_html,results_json"}
_AS_IF_MISTYPED = 0.8


def take_params(extra: list[str], known: Collection[str]) -> dict[str, object]:
    """The parameters among arguments that nobody else took; a name close to an option of ours is a typing error."""
    from agentdyno.specs import parse_param

    if extra and not extra[0].startswith("--"):
        raise click.UsageError(f"Got unexpected extra argument ({extra[0]})")
    found: dict[str, object] = {}
    for spelled, words in _grouped(extra):
        mistyped = get_close_matches(spelled, known, cutoff=_AS_IF_MISTYPED)
        if mistyped or not spelled[2:].replace("-", "_").isidentifier():
            raise click.NoSuchOption(spelled, possibilities=get_close_matches(spelled, known))
        name = spelled[2:].replace("-", "_")
        values = [parse_param(f"{name}={word}")[1] for word in words]
        found[name] = True if not values else values[0] if len(values) == 1 else values
    return found


def take_report(params: dict[str, object]) -> str | None:
    """The formats of ``--report``, taken out of ``params``; ``None`` where it was not given."""
    if "report" not in params:
        return None
    word = params.pop("report")
    if word not in REPORTS:
        raise click.UsageError(f"--report is {' or '.join(REPORTS)}, not {word}; --format knows the others")
    return REPORTS[str(word)]


def in_singular(params: Mapping[str, object], document: object) -> dict[str, object]:
    """``algorithms`` as values of ``algorithm``, where that is what the file has."""
    mentioned = _mentioned(document)
    found: dict[str, object] = {}
    for name, value in params.items():
        one = name.removesuffix("s")
        if one == name or one not in mentioned or name in mentioned:
            found[name] = value
        elif value != EVERYTHING:
            found[one] = value
    return found


def _grouped(extra: list[str]) -> list[tuple[str, list[str]]]:
    groups: list[tuple[str, list[str]]] = []
    for word in extra:
        if word.startswith("--"):
            spelled, has_value, value = word.partition("=")
            groups.append((spelled, [value] if has_value else []))
        else:
            groups[-1][1].append(word)
    return groups


def _mentioned(document: object) -> set[str]:
    """Parameters to which the file gives values."""
    entries = document.get("experiments") if isinstance(document, Mapping) else None
    places = [document, *(entries if isinstance(entries, list) else [])]
    tables = (place.get(key) for place in places if isinstance(place, Mapping) for key in ("params", "sweep"))
    return {str(name) for table in tables if isinstance(table, Mapping) for name in table}
