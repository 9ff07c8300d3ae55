"""What an experiment is, read from the live object: parameters, metrics, one line."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agentdyno.errors import PluginError
from agentdyno.model.metric import Direction, Metric
from agentdyno.model.parameter import ExperimentInfo, Parameter, merge_param_schema, parse_annotation
from agentdyno.registry.names import origin_of


def describe(name: str, target: Any) -> ExperimentInfo:
    """Parameters come from the signature of ``__init__`` or of the function, then from ``param_schema``."""
    subject = inspect.unwrap(target) if callable(target) else target
    if inspect.isclass(subject):
        execute_once = getattr(subject, "execute_once", None)
        if not callable(execute_once):
            raise PluginError(
                f"{subject.__name__} is not an experiment: it has no execute_once(context)",
                where=origin_of(subject),
                remedy="Subclass agentdyno.Experiment and define execute_once.",
            )
        parameters, is_open = signature_of(subject.__init__, skip_first=True)
        schema = getattr(subject, "param_schema", None)
        if isinstance(schema, Mapping):
            parameters = merge_param_schema(parameters, schema)
        metrics = _metrics(getattr(subject, "metrics", {}), origin_of(subject))
        doc = "" if _is_generated_doc(subject) else subject.__doc__
        return ExperimentInfo(
            name,
            first_line(doc),
            parameters,
            metrics,
            origin_of(subject),
            is_open,
            yields=inspect.isgeneratorfunction(inspect.unwrap(execute_once)),
        )
    if callable(subject):
        parameters, is_open = signature_of(subject, skip_first=False)
        iterations = getattr(target, "iterations", None)
        return ExperimentInfo(
            name,
            first_line(subject.__doc__),
            parameters,
            origin=origin_of(subject),
            open=is_open,
            iterations=iterations if isinstance(iterations, int) else None,
            yields=inspect.isgeneratorfunction(inspect.unwrap(getattr(target, "function", subject))),
        )
    raise PluginError(f"{name} is a {type(target).__name__}, neither an Experiment class nor a function")


def first_line(doc: str | None) -> str:
    """The first line of a docstring that says something."""
    return next((line.strip() for line in (doc or "").splitlines() if line.strip()), "")


def _is_generated_doc(kind: type) -> bool:
    """Whether nobody wrote it: the signature that ``@dataclass`` puts there."""
    return "__dataclass_fields__" in vars(kind) and (kind.__doc__ or "").startswith(f"{kind.__name__}(")


def signature_of(function: Callable[..., Any], *, skip_first: bool) -> tuple[tuple[Parameter, ...], bool]:
    """The parameters, and whether there is a ``**`` that takes any further one."""
    if function is object.__init__:
        return (), False
    try:
        items = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"its parameters cannot be read: {error}",
            where=origin_of(function),
            remedy="Wrap it in a function whose parameters are written out.",
        ) from error
    parameters = []
    is_open = False
    for item in items[1:] if skip_first else items:
        if item.kind is item.VAR_KEYWORD:
            is_open = True
        if item.kind in (item.VAR_KEYWORD, item.VAR_POSITIONAL):
            continue
        annotation = item.annotation
        text = "" if annotation is item.empty else annotation if isinstance(annotation, str) else _spelled(annotation)
        types, choices = parse_annotation(text) if text else ((), ())
        default = None if item.default is item.empty else item.default
        parameters.append(make_parameter(item.name, types, choices, item.default is item.empty, default))
    return tuple(parameters), is_open


def make_parameter(
    name: str,
    types: tuple[str, ...],
    choices: tuple[object, ...],
    required: bool,
    default: object,
    opaque: bool = False,
) -> Parameter:
    """A parameter whose declared default is always one of its values, as in ``size: int = None``.

    A default that JSON would change (an enum, a set, infinity) is kept as text and marked ``opaque``.
    """
    if default is None and not required:
        types = (*types, "null") if types and "null" not in types else types
        choices = (*choices, None) if choices and None not in choices else choices
    if isinstance(default, tuple):
        default = list(default)
    if not opaque and not _survives_json(default):
        default, opaque = str(default), True
    return Parameter(name, types, required, default, choices, opaque=opaque)


def _survives_json(value: object) -> bool:
    """Whether the value is the same after a trip through JSON, a tuple inside it counting as a list."""
    if isinstance(value, (list, tuple)):
        return all(map(_survives_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _survives_json(item) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (str, bool, int)


def _spelled(annotation: object) -> str:
    return inspect.formatannotation(annotation)


def _metrics(declared: object, where: str) -> tuple[Metric, ...]:
    if not isinstance(declared, Mapping):
        return ()
    metrics = []
    for name, item in declared.items():
        if isinstance(item, Metric):
            metrics.append(replace(item, name=str(name)))
        elif isinstance(item, Mapping):
            metrics.append(_metric(str(name), item, where))
    return tuple(metrics)


def _metric(name: str, item: Mapping[str, object], where: str) -> Metric:
    try:
        direction = Direction(str(item.get("direction", "unknown")))
    except ValueError:
        raise PluginError(
            f"metrics.{name}.direction: expected {', '.join(Direction)}, got {item['direction']!r}",
            where=where,
            remedy="Say which way is better, or leave it out.",
        ) from None
    machine_dependent = item.get("machine_dependent", True) is not False
    return Metric(name, str(item.get("unit", "")), direction, machine_dependent=machine_dependent)
