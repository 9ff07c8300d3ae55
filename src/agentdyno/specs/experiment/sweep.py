"""From one entry to its combinations of parameter values."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from agentdyno.errors import nearest
from agentdyno.model.identity import canonical_json, derive_seed
from agentdyno.model.parameter import ExperimentInfo, Parameter
from agentdyno.model.spec import Entry, Strategy
from agentdyno.specs.files.plain import is_plain
from agentdyno.specs.files.problems import FileProblem, dotted, shorten, spec_error

MAX_COMBINATIONS = 10_000
_BOOLEAN_WORDS = ("yes", "no", "on", "off", "y", "n")


def expand(entry: Entry, info: ExperimentInfo, *, seed: int, where: str) -> list[dict[str, object]]:
    """Every combination to run, defaults of the declared parameters filled in, in their declared order.

    ``where`` is the place of the entry (``entry_where``). The same entry and seed give the same combinations.
    Raises ``SpecError`` for unknown, missing, mistyped or doubled values and for more than 10,000 combinations.
    """
    fixed, axes, keys = _split(entry, info)
    problems = [*_name_problems(entry, info), *_value_problems(info, fixed, axes, keys)]
    problems += _missing(entry, info)
    for name, values in axes.items():
        if entry.strategy is not Strategy.ZIP:
            problems += _doubled(keys[name], values)
    if not problems:
        found = axes_problem(axes, entry.strategy)
        if found is not None:
            problems.append(FileProblem(keys[next(iter(axes))], found.message, found.remedy))
    if problems:
        raise spec_error(where, problems)
    combinations = [
        _ordered({**fixed, **chosen}, info) for chosen in _choose(axes, entry, derive_seed(seed, "sweep", info.name))
    ]
    if entry.strategy is Strategy.ZIP:
        doubled = _doubled("sweep", combinations)
        if doubled:
            raise spec_error(where, doubled)
    return combinations


def axes_problem(axes: Mapping[str, Sequence[object]], strategy: Strategy) -> FileProblem | None:
    """What keeps these axes from being combined: an empty one, unequal lengths under zip, too many combinations."""
    for name, values in axes.items():
        if not values:
            return FileProblem(
                dotted((name,)),
                f"expected at least one value for {name}, got none",
                "Give a value, or remove the key.",
            )
    if strategy is Strategy.ZIP:
        lengths = {name: len(values) for name, values in axes.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{length} for {shorten(name)}" for name, length in list(lengths.items())[:12])
            return FileProblem(
                "", f"expected lists of equal length for strategy zip, got {shown}", "Make them equally long."
            )
    total = math.prod(len(values) for values in axes.values())
    if strategy is Strategy.CARTESIAN and total > MAX_COMBINATIONS:
        product = " x ".join(f"{len(values):,}" for values in axes.values())
        return FileProblem(
            "",
            f"expected at most {MAX_COMBINATIONS:,} combinations, got {shorten(product)} = {_count(total)}",
            "Sweep fewer values, or use `strategy: random` with `samples: 100`.",
        )
    if strategy is Strategy.ZIP and axes and len(next(iter(axes.values()))) > MAX_COMBINATIONS:
        return FileProblem("", f"expected at most {MAX_COMBINATIONS:,} combinations", "Sweep fewer values.")
    return None


def _count(total: int) -> str:
    return f"{total:,}" if total < 10**15 else f"about 10^{int(math.log10(total))}"


def _split(
    entry: Entry, info: ExperimentInfo
) -> tuple[dict[str, object], dict[str, Sequence[object]], dict[str, str]]:
    """Fixed values, axes, and the dotted key of each name."""
    fixed: dict[str, object] = {}
    axes: dict[str, Sequence[object]] = {}
    keys = {name: dotted(("params", name)) for name in entry.params}
    for name, value in entry.params.items():
        parameter = info.parameter(name) or Parameter(name)
        if isinstance(value, (list, tuple)) and not parameter.takes_list:
            axes[name] = value
        else:
            fixed[name] = value
    for name, values in entry.sweep.items():
        axes[name] = values
        keys[name] = dotted(("sweep", name))
    return fixed, axes, keys


def _name_problems(entry: Entry, info: ExperimentInfo) -> Iterator[FileProblem]:
    known = [parameter.name for parameter in info.parameters]
    for group, names in (("params", entry.params), ("sweep", entry.sweep)):
        for name in names:
            key = dotted((group, name))
            if name in entry.params and name in entry.sweep:
                if group == "sweep":
                    yield FileProblem(key, f"{name!r} is in params and in sweep", "Remove one of the two.")
            elif not info.open and name not in known:
                remedy = nearest(name[:200], known) if known else f"{info.name} takes no parameters; remove it."
                yield FileProblem(key, f"{info.name} has no parameter {shorten(repr(name))}", remedy)


def _value_problems(
    info: ExperimentInfo,
    fixed: Mapping[str, object],
    axes: Mapping[str, Sequence[object]],
    keys: Mapping[str, str],
) -> Iterator[FileProblem]:
    for name in keys:
        parameter = info.parameter(name)
        if parameter is None:
            continue
        rows = [("", fixed[name])] if name in fixed else [(f"[{i}]", v) for i, v in enumerate(axes.get(name, ()))]
        for suffix, value in rows:
            found = parameter.problem(value)
            if found is not None:
                yield FileProblem(f"{keys[name]}{suffix}", found[:300], _remedy(parameter, value))


def _remedy(parameter: Parameter, value: object) -> str:
    if "boolean" in parameter.types and isinstance(value, str) and value.lower() in _BOOLEAN_WORDS:
        return "Write true or false."
    if "string" in parameter.types and isinstance(value, (int, float)):
        return f'Put it in quotes: "{value}".'
    if parameter.choices and isinstance(value, str):
        return nearest(value, map(str, parameter.choices))
    about = f" ({parameter.description})" if parameter.description else ""
    return f"Give {parameter.name} a value of type {parameter.type_name}{about}."


def _missing(entry: Entry, info: ExperimentInfo) -> Iterator[FileProblem]:
    for parameter in info.parameters:
        if parameter.required and parameter.name not in entry.params and parameter.name not in entry.sweep:
            yield FileProblem(
                dotted(("params", parameter.name)),
                f"expected a value for {parameter.name}, which {info.name} requires, got none",
                f"Add `{parameter.name}:` below params ({parameter.type_name}).",
            )


def _doubled(key: str, values: Sequence[object]) -> list[FileProblem]:
    seen: dict[str, int] = {}
    for i, value in enumerate(values):
        first = seen.setdefault(canonical_json(value), i)
        if first != i:
            message = f"expected different values, got {shorten(repr(value))} twice (numbers {first + 1} and {i + 1})"
            return [FileProblem(key, message, "Remove one of them; use iterations to measure more often.")]
    return []


def _choose(axes: Mapping[str, Sequence[object]], entry: Entry, seed: int) -> Iterator[dict[str, object]]:
    """The values of the axes, one dict per combination; the last axis varies fastest."""
    if entry.strategy is Strategy.ZIP:
        length = len(next(iter(axes.values()))) if axes else 1
        for i in range(length):
            yield {name: values[i] for name, values in axes.items()}
        return
    total = math.prod(len(values) for values in axes.values())
    numbers: Sequence[int] = range(total) if entry.strategy is Strategy.CARTESIAN else _draw(total, entry, seed)
    for number in numbers:
        rest, picked = number, []
        for name in reversed(list(axes)):
            rest, i = divmod(rest, len(axes[name]))
            picked.append((name, axes[name][i]))
        yield dict(reversed(picked))


def _draw(total: int, entry: Entry, seed: int) -> list[int]:
    wanted = min(entry.samples or total, total, MAX_COMBINATIONS)
    rng = random.Random(seed)
    if total <= 100 * MAX_COMBINATIONS:
        return sorted(rng.sample(range(total), wanted))
    drawn: set[int] = set()
    while len(drawn) < wanted:
        drawn.add(rng.randrange(total))
    return sorted(drawn)


def _ordered(values: Mapping[str, object], info: ExperimentInfo) -> dict[str, object]:
    """Declared parameters first, with their defaults where those are values that a result can hold."""
    ordered: dict[str, object] = {}
    for parameter in info.parameters:
        if parameter.name in values:
            ordered[parameter.name] = values[parameter.name]
        elif (
            not (parameter.required or parameter.opaque)
            and is_plain(parameter.default)
            and parameter.problem(parameter.default) is None
        ):
            ordered[parameter.name] = parameter.default
    ordered.update({name: value for name, value in values.items() if name not in ordered})
    return ordered
