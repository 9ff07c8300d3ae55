"""What is changed beside a file: on the command line, in Python, in a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from agentdyno.errors import SpecError, nearest
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.model.spec import Spec
from agentdyno.settings import settings_of
from agentdyno.settings.setting import (
    ITERATIONS,
    QUICK,
    SPEC,
    SPEC_CHANGE,
    SPEC_CHOICE,
    SUITE,
    SUITE_CHANGE,
    SUITE_CHOICE,
    Setting,
)

COMMAND_LINE = "command line"
SPEC_CHANGES = SPEC | ITERATIONS | SPEC_CHANGE
SUITE_CHANGES = SUITE | QUICK | SUITE_CHANGE
CHOICES = SPEC_CHOICE | SUITE_CHOICE


@dataclass(frozen=True, slots=True)
class SettingChanges(Mapping[str, object]):
    """Values by the names that settings have in Python and among options; ``None`` and empty change nothing.

    ``scope`` says whose settings they are: ``SPEC_CHANGES`` or ``SUITE_CHANGES``. A name that is none of them is a
    ``KeyError``. Tags, imports and instruments are added to those of the file, all else replaces.
    """

    scope: frozenset[str]
    values_by_name: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = known_changes(self.scope)
        for name in self.values_by_name:
            if name not in known:
                raise KeyError(name)
        given = {name: value for name, value in self.values_by_name.items() if not _says_nothing(value)}
        object.__setattr__(self, "values_by_name", given)

    def __getitem__(self, name: str) -> object:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def document(self) -> dict[str, object]:
        """The changes in the form of a file, to be validated like one."""
        known = known_changes(self.scope)
        document: dict[str, object] = {}
        for name, value in self.values_by_name.items():
            setting = known[name]
            *above, key = setting.place.split(".")
            table = document
            for part in above:
                table = table.setdefault(part, {})  # type: ignore[assignment]
            table[key] = _in_file(setting, value)
        return document


def spec_changes(**values: object) -> SettingChanges:
    """Changes of an experiment's spec: ``params``, ``iterations``, ``seed``, ``tags``…"""
    return SettingChanges(SPEC_CHANGES, values)


def suite_changes(**values: object) -> SettingChanges:
    """Changes of a suite: ``epochs``, ``limit``, ``cases``, ``seed``, ``time_limit_s``…"""
    return SettingChanges(SUITE_CHANGES, values)


def changes_among(options: Mapping[str, object], scope: frozenset[str]) -> SettingChanges:
    """What a command's options change in a file; what is said beside it (``--agent`` of a suite) is left out."""
    return SettingChanges(
        scope,
        {
            name: options[setting.asked]
            for name, setting in known_changes(scope).items()
            if setting.option and setting.asked in options and not setting.scopes & CHOICES
        },
    )


def params_of(changes: SettingChanges) -> Mapping[str, object]:
    """The parameters of experiments that are changed, by name."""
    params = changes.get("params")
    return params if isinstance(params, Mapping) else {}


def known_changes(scope: frozenset[str]) -> dict[str, Setting[object]]:
    """The settings of a scope by their names in Python."""
    return {setting.name: setting for setting in settings_of(scope)}


def _says_nothing(value: object) -> bool:
    return value is None or (isinstance(value, (tuple, list, Mapping)) and not value)


def _in_file(setting: Setting[object], value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if setting.scale != 1 and isinstance(value, (int, float)):
        return value * setting.scale
    return dict(value) if isinstance(value, Mapping) else value


def fit_overrides(spec: Spec, params: Mapping[str, object], infos: Mapping[str, ExperimentInfo]) -> Spec:
    """Leaves overridden ``params`` only in the entries whose experiment has them.

    ``infos`` describes each experiment by the reference that the spec uses. A name that no experiment has is an
    error. Needed for specs of several experiments; without it the sweep refuses such a parameter.
    """
    known = [infos[entry.experiment] for entry in spec.entries]
    for name in params:
        if not any(info.open or info.parameter(name) for info in known):
            names = [parameter.name for info in known for parameter in info.parameters]
            raise SpecError(
                f"no experiment of {spec.name} has a parameter {name!r}",
                where=f"{COMMAND_LINE}: params.{name}",
                remedy=nearest(name, names),
            )
    entries = []
    for entry, info in zip(spec.entries, known, strict=True):
        foreign = {name for name in params if not info.open and info.parameter(name) is None}
        kept = {name: value for name, value in entry.params.items() if name not in foreign}
        entries.append(replace(entry, params=kept))
    return replace(spec, entries=tuple(entries))
