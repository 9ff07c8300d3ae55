"""What an experiment is, read from the live object: parameters, metrics, one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from agentdyno.contracts import Experiment
from agentdyno.errors import PluginError
from agentdyno.model.metric import Direction, Metric
from agentdyno.model.parameter import ExperimentInfo, Parameter, merge_param_schema, parse_annotation
from agentdyno.registry.names import origin_of


def describe(name: str, target: Any) -> ExperimentInfo:
    """Parameters come from the signature of ``__init__`` or of the function, then from ``param_schema``."""
    subject = inspect.unwrap(target) if callable(target) else target
    if inspect.isclass(subject):
        if not callable(getattr(subject, "execute_once", None)):
            raise PluginError(
                f"{subject.__name__} is not an experiment: it has no execute_once(context)",
                where=origin_of(subject),
                remedy="Subclass agentdyno.Experiment and define execute_once.",
            )
        parameters, is_open = _signature(subject.__init__, skip_first=True)
        schema = getattr(subject, "param_schema", None)
        if isinstance(schema, Mapping):
            parameters = merge_param_schema(parameters, schema)
        metrics = _metrics(getattr(subject, "metrics", {}))
        doc = subject.__doc__ if subject.__doc__ != Experiment.__doc__ else ""
        return ExperimentInfo(name, first_line(doc), parameters, metrics, origin_of(subject), is_open)
    if callable(subject):
        parameters, is_open = _signature(subject, skip_first=False)
        iterations = getattr(target, "iterations", None)
        return ExperimentInfo(
            name,
            first_line(subject.__doc__),
            parameters,
            origin=origin_of(subject),
            open=is_open,
            iterations=iterations if isinstance(iterations, int) else None,
        )
    raise PluginError(f"{name} is a {type(target).__name__}, neither an Experiment class nor a function")


def first_line(doc: str | None) -> str:
    """The first line of a docstring that says something."""
    return next((line.strip() for line in (doc or "").splitlines() if line.strip()), "")


def _signature(function: Callable[..., Any], *, skip_first: bool) -> tuple[tuple[Parameter, ...], bool]:
    if function is object.__init__:
        return (), False
    items = list(inspect.signature(function).parameters.values())
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
    name: str, types: tuple[str, ...], choices: tuple[object, ...], required: bool, default: object
) -> Parameter:
    """A parameter whose declared default is always one of its values, as in ``size: int = None``."""
    if default is None and not required and types and "null" not in types:
        types = (*types, "null")
        choices = (*choices, None) if choices else choices
    if isinstance(default, tuple):
        default = list(default)
    return Parameter(name, types, required, default, choices)


def _spelled(annotation: object) -> str:
    return inspect.formatannotation(annotation)


def _metrics(declared: object) -> tuple[Metric, ...]:
    if not isinstance(declared, Mapping):
        return ()
    metrics = []
    for name, item in declared.items():
        if isinstance(item, Metric):
            metrics.append(Metric(str(name), item.unit, item.direction, item.provenance, item.machine_dependent))
        elif isinstance(item, Mapping):
            metrics.append(Metric(str(name), str(item.get("unit", "")), Direction(item.get("direction", "unknown"))))
    return tuple(metrics)
