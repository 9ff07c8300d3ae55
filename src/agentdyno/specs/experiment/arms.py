"""Arms of a run: one per combination, with a short name that tells it from the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.model.identity import canonical_json, experiment_arm_id
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.model.plan import Arm, Side
from agentdyno.model.spec import Entry

_VALUE_LENGTH = 32


def build_arms(
    entry: Entry, info: ExperimentInfo, combos: Sequence[Mapping[str, object]], side: Side | None = None
) -> list[Arm]:
    """One arm per combination, named by the experiment and the parameters that vary: ``retrieval index=scan``.

    An entry with a name of its own gives it to its arms instead. Parameters are named in the order of the entry. With
    a ``side`` the name ends with it in brackets.
    """
    mentioned = [*entry.params, *entry.sweep]
    varying = _varying(combos)
    shown = [name for name in mentioned if name in varying] + [name for name in varying if name not in mentioned]
    suffix = f" [{side}]" if side is not None else ""
    arms = [
        Arm(
            arm_id=experiment_arm_id(info.name, combo, side),
            name=_named(entry.name or info.name, combo, shown) + suffix,
            experiment=info.name,
            params=dict(combo),
            side=side,
        )
        for combo in combos
    ]
    return distinct_names(arms)


def distinct_names(arms: Sequence[Arm]) -> list[Arm]:
    """The same arms with unique names: equal ones get the parameters they differ in, then part of the arm id."""
    result = list(arms)
    for name in _repeated(result):
        same = [i for i, arm in enumerate(result) if arm.name == name]
        differing = _varying([result[i].params for i in same])
        for i in same:
            parts = [f"{key}={shown_value(result[i].params[key])}" for key in differing if key in result[i].params]
            base, bracket, side = name.partition(" [") if result[i].side is not None else (name, "", "")
            result[i] = replace(
                result[i], name=" ".join([base, *(p for p in parts if p not in base.split())]) + bracket + side
            )
    for name in _repeated(result):
        for i, arm in enumerate(result):
            if arm.name == name:
                result[i] = replace(arm, name=f"{name} #{arm.arm_id[:6]}")
    return result


def _repeated(arms: Sequence[Arm]) -> list[str]:
    return [name for name, count in Counter(arm.name for arm in arms).items() if count > 1]


def _varying(combos: Sequence[Mapping[str, object]]) -> list[str]:
    names = dict.fromkeys(name for combo in combos for name in combo)
    return [
        name for name in names if len({canonical_json(combo[name]) if name in combo else "" for combo in combos}) > 1
    ]


def _named(first: str, combo: Mapping[str, object], names: Sequence[str]) -> str:
    return " ".join([first, *(f"{name}={shown_value(combo[name])}" for name in names if name in combo)])


def shown_value(value: object) -> str:
    """A parameter's value within a name: on one line, at most 32 characters."""
    if isinstance(value, str):
        text = value if value and value.isprintable() and " " not in value else json.dumps(value, ensure_ascii=True)
    else:
        text = canonical_json(value)
    return text if len(text) <= _VALUE_LENGTH else f"{text[: _VALUE_LENGTH - 1]}…"
