"""Cases that code yields: registered generators, and data sets on Hugging Face."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path

from agentdyno.errors import PluginError, SpecError, nearest
from agentdyno.registry.installed import load
from agentdyno.registry.local import load_import, load_target, parse_reference
from agentdyno.settings.suite import MAX_CASES
from agentdyno.specs.dataset.case_rows import CaseRow
from agentdyno.specs.files.plain import is_plain
from agentdyno.specs.files.problems import got, shorten


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator by name or ``file.py@name``, what it is asked for, and the imports that may register it."""

    reference: str
    n: int | None
    seed: int
    options: Mapping[str, object] = field(default_factory=dict)
    base_dir: Path = field(default_factory=Path)
    imports: tuple[str, ...] = ()


def generated_rows(generator: Generator, where: str) -> list[CaseRow]:
    """What the generator yields: cases or mappings. Whatever it raises is a ``SpecError``."""
    target = _find(generator, where)
    if callable(target):
        arguments = _arguments(target, generator, where)
        values = _yielded(generator.reference, lambda: target(**arguments), where)
    else:
        values = _yielded(generator.reference, lambda: target, where)
    if not values:
        raise SpecError(
            f"{generator.reference} yields no cases", where=where, remedy="Let it yield at least one mapping or Case."
        )
    return [CaseRow(f"case {number}", value) for number, value in enumerate(values, 1)]


def _find(generator: Generator, where: str) -> object:
    try:
        target = parse_reference(generator.reference, generator.base_dir)
        if target is not None:
            found: object = load_target("datasets", target)
            return found
        for item in generator.imports:
            load_import(str((generator.base_dir / item).resolve()) if item.endswith(".py") else item)
        found = load("datasets", generator.reference)
    except PluginError as error:
        message = f"{error.where}: {error.message}" if error.where else error.message
        raise SpecError(message, where=where, remedy=error.remedy or "Check the name of the generator.") from error
    return found


def _arguments(function: Callable[..., object], generator: Generator, where: str) -> dict[str, object]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return dict(generator.options)
    parameters = signature.parameters.values()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    names = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    for name in generator.options:
        if name not in names and not takes_any:
            raise SpecError(
                f"{generator.reference} has no parameter {shorten(repr(name))}",
                where=f"{where}.options.{name}",
                remedy=nearest(name[:200], names),
            )
    offered = {"seed": generator.seed, **({} if generator.n is None else {"n": generator.n})}
    arguments = {
        **{name: value for name, value in offered.items() if takes_any or name in names},
        **generator.options,
    }
    try:
        signature.bind(**arguments)
    except TypeError as error:
        remedy = "Add `size:` to the data set, which is passed as n; other arguments go below `options:`."
        raise SpecError(f"{generator.reference}: {error}", where=where, remedy=remedy) from None
    return arguments


def _yielded(name: str, call: Callable[[], object], where: str) -> list[object]:
    try:
        result = call()
        if isinstance(result, Iterable) and not isinstance(result, (str, bytes, Mapping)):
            return list(islice(result, MAX_CASES + 1))
    except Exception as error:
        shown = shorten(str(error).partition("\n")[0])
        raise SpecError(
            f"{name} raised {type(error).__name__}: {shown}", where=where, remedy="Correct the generator."
        ) from error
    if inspect.iscoroutine(result):
        result.close()
    raise SpecError(
        f"expected cases from {name}, got {got(result)}", where=where, remedy="Let it yield mappings or Case objects."
    )


def hugging_face_rows(
    name: str, options: Mapping[str, str], columns: Mapping[str, str], where: str
) -> Iterator[CaseRow]:
    """Rows of a data set on Hugging Face; ``options`` are split, subset and revision.

    Columns that JSON cannot hold (pictures, sounds) are left out unless ``columns`` asks for them.
    """
    try:
        library = import_module("datasets")
    except ImportError:
        from agentdyno.extras import install_extra

        raise SpecError(
            f"{name} needs the library datasets, which is not installed",
            where=where,
            remedy=f"Install it: {install_extra('hf')}.",
        ) from None
    try:
        data = library.load_dataset(
            name, options.get("subset"), split=options.get("split", "test"), revision=options.get("revision")
        )
        wanted = set(columns.values())
        for number, row in enumerate(islice(data, MAX_CASES + 1), 1):
            yield CaseRow(
                f"row {number}", {key: item for key, item in row.items() if key in wanted or is_plain(item)}
            )
    except Exception as error:
        shown = shorten(str(error).partition("\n")[0])
        raise SpecError(
            f"{name} cannot be loaded: {type(error).__name__}: {shown}",
            where=where,
            remedy="Check the name, the split and the subset, and whether the hub can be reached.",
        ) from error
