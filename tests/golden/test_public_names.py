"""Every name that a user may import, with what it takes and what it holds."""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import enum
import inspect
import re
import sys
import typing
from collections.abc import Iterator

import agentdyno

from .golden import check

_OURS = "agentdyno"
_SHOWN = {*agentdyno.__all__, *dir(builtins), *dir(typing), *dir(collections.abc), "Path", "PathLike", "Random"}
"""Names of types that a user knows. The others may be renamed: a user never writes them."""
_HIDDEN = "<ours>"


def test_public_names_take_and_hold_what_they_did() -> None:
    lines: list[str] = []
    for name in agentdyno.__all__:
        if name != "__version__":
            lines += [*_described(name, getattr(agentdyno, name)), ""]
    check("public_names.txt", "\n".join(lines))


def _described(name: str, value: object) -> Iterator[str]:
    if not inspect.isclass(value):
        yield f"def {name}{_signature(value)}"
        return
    known = {*agentdyno.__all__, "Exception", "StrEnum", "Protocol"}
    yield f"class {name}({', '.join(base.__name__ for base in value.__mro__[1:] if base.__name__ in known)})"
    if issubclass(value, enum.Enum):
        yield from (f"    {member.name} = {member.value!r}" for member in value)
    elif dataclasses.is_dataclass(value):
        shown = [field for field in dataclasses.fields(value) if not field.name.startswith("_")]
        yield from (f"    {_field(field, value.__module__)}" for field in shown)
    else:
        yield f"    __init__{_signature(value)}"
    yield from sorted(_members(value))


def _members(cls: type) -> Iterator[str]:
    """What the class and its bases of ours define for a caller: methods, properties, annotated attributes."""
    seen: set[str] = set()
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    for base in cls.__mro__:
        if not base.__module__.startswith(_OURS):
            continue
        for name, kind in inspect.get_annotations(base).items():
            if not name.startswith("_") and name not in fields | seen and not issubclass(cls, enum.Enum):
                seen.add(name)
                yield f"    {name}: {_type(kind, base.__module__)}"
        for name, member in vars(base).items():
            public = not name.startswith("_") or name in (
                "__call__",
                "__enter__",
                "__iter__",
                "__len__",
                "__getitem__",
            )
            if public and name not in fields | seen and (line := _member(name, member)):
                seen.add(name)
                yield f"    {line}"


def _member(name: str, member: object) -> str | None:
    if isinstance(member, property):
        assert member.fget is not None
        return (
            f"property {name} -> {_type(inspect.get_annotations(member.fget).get('return'), member.fget.__module__)}"
        )
    if isinstance(member, (classmethod, staticmethod)):
        return f"{type(member).__name__} {name}{_signature(member.__func__)}"
    return f"def {name}{_signature(member)}" if inspect.isfunction(member) else None


def _field(field: dataclasses.Field[object], home: str) -> str:
    text = f"{field.name}: {_type(field.type, home)}"
    if not field.init:
        return f"{text} (not given)"
    if field.default is not dataclasses.MISSING:
        return f"{text} = {_default(field.default)}"
    if field.default_factory is not dataclasses.MISSING:
        return f"{text} = {_type(getattr(field.default_factory, '__name__', ''), home)}()"
    return text


def _signature(value: object) -> str:
    assert callable(value)
    home = value.__module__
    signature = inspect.signature(value)
    bare = [item.replace(annotation=item.empty, default=item.empty) for item in signature.parameters.values()]
    shown = str(signature.replace(parameters=bare, return_annotation=signature.empty))
    for item in signature.parameters.values():
        kind = "" if item.annotation is item.empty else f": {_type(item.annotation, home)}"
        default = "" if item.default is item.empty else f" = {_default(item.default)}"
        shown = re.sub(
            rf"(?<=[(, *]){item.name}(?=[,)])", (item.name + kind + default).replace("\\", r"\\"), shown, count=1
        )
    back = signature.return_annotation
    return shown if back is signature.empty else f"{shown} -> {_type(back, home)}"


def _type(annotation: object, home: str) -> str:
    """The annotation with the types that a user knows; ``home`` is the module in which it was written."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"[A-Z]\w+", lambda found: found[0] if _is_known(found[0], home) else _HIDDEN, text)


def _is_known(name: str, home: str) -> bool:
    """Another type of ours may have the name of a public one."""
    meant = getattr(sys.modules[home], name, None)
    return name in _SHOWN and (name not in agentdyno.__all__ or meant in (None, getattr(agentdyno, name)))


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return repr(value.value)
    if dataclasses.is_dataclass(value) or callable(value):
        return _HIDDEN
    return repr(value)
