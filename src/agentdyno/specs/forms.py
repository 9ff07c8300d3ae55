"""Forms of files and requests, made from the settings; and the file formats as JSON Schema.

A form has the settings of one scope beside what a file writes out by itself (``base``): nested parts, and rules that
span several keys.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from agentdyno.settings import settings_of
from agentdyno.settings.setting import JOB, Setting
from agentdyno.specs.files.shorthand import check_line, spell_gc, spell_inner_loops, spell_names

B = TypeVar("B", bound=BaseModel)

Line = Annotated[str, BeforeValidator(check_line), Field(min_length=1, max_length=1000)]
Text = Annotated[str, Field(max_length=100_000)]
_PLAIN: dict[str, Any] = {"boolean": bool, "integer": int, "number": float, "string": str}
_SPELLED: dict[str, Any] = {
    "line": Line,
    "file": Line,
    "existing file": Line,
    "lines": list[Line],
    "text": Text,
    "long text": Annotated[str, Field(max_length=1_000_000)],
    "names": Annotated[
        Annotated[list[Line], Field(max_length=100)],
        BeforeValidator(spell_names, json_schema_input_type=str | list[str]),
    ],
    "gc": Annotated[
        Literal["normal", "off", "collect"],
        BeforeValidator(spell_gc, json_schema_input_type=Literal["normal", "off", "collect", False]),
    ],
    "inner_loops": Annotated[
        int, BeforeValidator(spell_inner_loops, json_schema_input_type=Annotated[int, Field(ge=1)] | Literal["auto"])
    ],
}


class FileModel(BaseModel):
    """Unknown keys are refused and nothing is converted: text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ThresholdsKey(FileModel):
    """A key that ``dyno.yaml`` and suites have."""

    thresholds: dict[str, float] = Field(
        default_factory=dict,
        description="Changes that count as regressions, by metric, in parts of the value before; all for the others",
        examples=[{"all": 0.1, "accuracy": 0.05}],
    )


class OptionsModel(BaseModel):
    """What of the suite is run, and what it may cost; left out: as the suite says."""

    model_config = ConfigDict(extra="forbid")


def form(
    name: str, scope: frozenset[str], *, base: type[B], order: str = "", optional: bool = False, **own: Any
) -> type[B]:
    """``base`` with the settings of ``scope``; ``own`` adds keys as ``(type, Field(...))``.

    ``order`` names the keys that come first in the schema and in lists of problems; the others follow. Where
    ``optional`` (of a request), keys are the names of the settings, and null is as good as leaving one out.
    """
    fields: dict[str, Any] = {}
    for setting in settings_of(scope):
        if optional:
            fields[setting.name] = _optional_field(setting, scope)
        else:
            fields[setting.form_key] = _field(setting, scope)
    known = {*base.model_fields, *fields, *own}
    return create_model(
        name,
        __base__=_in_order(base, [key for key in order.split() if key in known]),
        __doc__=base.__doc__,
        **fields,
        **own,
    )


def _in_order(base: type[B], keys: list[str]) -> type[B] | tuple[type[B], ...]:
    """A key stays where the first base class has it: a class that only names the keys sets their order."""
    if not keys:
        return base
    named: dict[str, Any] = dict.fromkeys(keys, (Any, None))
    empty: Any = next(item for item in base.__mro__ if issubclass(item, BaseModel) and not item.model_fields)
    ordered: Any = create_model("Ordered", __base__=empty, **named)
    return ordered if empty is base else (base, ordered)


def _field(setting: Setting[object], scope: frozenset[str]) -> tuple[Any, Any]:
    words = setting.wording(scope)
    if setting.takes_list:
        told: list[Any] = [words.example]
        return _limited(setting), Field(default_factory=list, description=words.description, examples=told)
    told = words.example if isinstance(words.example, list) else [words.example]
    nullable = "null" in setting.types
    kind = _limited(setting) | None if nullable else _limited(setting)
    # A key that may be null says so by being left out, whatever is done then.
    default = None if nullable else setting.default
    return kind, Field(default=default, description=words.description, examples=told)


def _optional_field(setting: Setting[object], scope: frozenset[str]) -> tuple[Any, Any]:
    description = f"{setting.wording(scope).description}."
    if setting.types == ("boolean",):
        return _limited(setting, description=description), setting.default
    finite = {"allow_inf_nan": False} if "number" in setting.types else {}
    return _limited(setting, description=description, **finite) | None, None


def _limited(setting: Setting[object], **more: Any) -> Any:
    """The type of a setting's values, with its limits."""
    if setting.spelled:
        kind = _SPELLED[setting.spelled]
    elif setting.choices:
        kind = Literal[setting.choices]
    else:
        kind = next(_PLAIN[item] for item in setting.types if item in _PLAIN)
    limits = {"ge": setting.minimum, "gt": setting.above, "le": setting.maximum}
    given = {word: value for word, value in limits.items() if value is not None} | more
    return Annotated[kind, Field(**given)] if given else kind


JobOptions = form("Options", JOB, base=OptionsModel, order="epochs limit quick max_cost_usd", optional=True)
"""What of a run the caller of a service may choose."""
