"""An experiment is described alike from its source, which is never imported, and from the live object."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agentdyno.errors import PluginError
from agentdyno.model import Direction, ExperimentInfo, Metric, Parameter
from agentdyno.model.codec import encode
from agentdyno.registry.describe import describe
from agentdyno.registry.source import describe_source

from . import subjects

NAMES = [
    "Documented",
    "Annotations",
    "Unannotated",
    "KeywordOnly",
    "ComputedDefaults",
    "Inherits",
    "InheritsTwice",
    "InheritsFromElsewhere",
    "OwnInitOfNone",
    "Fields",
    "MoreFields",
    "WithSchema",
    "InheritsSchema",
    "plain",
    "waits",
    "takes_all",
    "silent",
    "decorated",
]


def shape(info: ExperimentInfo) -> list[Any]:
    """What both ways must agree on: the text of a default that only the live object knows may differ."""
    return [
        info.description,
        info.open,
        info.iterations,
        [replace(item, default="?", opaque=False) for item in info.parameters],
    ]


def assert_alike(static: ExperimentInfo, live: ExperimentInfo) -> None:
    assert shape(static) == shape(live)
    for written, known in zip(static.parameters, live.parameters, strict=True):
        if not written.opaque:
            assert (written.default, written.opaque) == (known.default, known.opaque), written.name


@pytest.mark.parametrize("name", NAMES)
def test_source_and_object_tell_the_same(name: str) -> None:
    static = describe_source("x", subjects.__name__, name, "package")
    assert_alike(static, describe("x", getattr(subjects, name)))
    assert static.origin == "package"


@pytest.fixture
def postponed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same module with postponed annotations, which are live texts instead of objects."""
    package = tmp_path / "postponed_subjects"
    package.mkdir()
    folder = Path(subjects.__file__).parent
    (package / "__init__.py").write_text("from .subjects import *\n")
    (package / "subject_bases.py").write_text((folder / "subject_bases.py").read_text())
    text = (folder / "subjects.py").read_text().replace('name="Decorated"', 'name="Postponed"')
    (package / "subjects.py").write_text(
        text.replace("import dataclasses\n", "from __future__ import annotations\n\nimport dataclasses\n", 1)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "postponed_subjects.subjects"
    for name in [name for name in sys.modules if name.startswith("postponed_subjects")]:
        del sys.modules[name]


def test_postponed_annotations_make_no_difference(postponed: str) -> None:
    static = [describe_source("x", postponed, name, "") for name in NAMES]
    assert postponed not in sys.modules
    module = importlib.import_module(postponed)
    for name, info in zip(NAMES, static, strict=True):
        assert_alike(info, describe("x", getattr(module, name)))
        assert shape(info) == shape(describe("x", getattr(subjects, name)))


def live(name: str) -> dict[str, Parameter]:
    return {item.name: item for item in describe("x", getattr(subjects, name)).parameters}


def test_the_description_is_the_first_line_that_says_something() -> None:
    assert describe("x", subjects.Documented).description == "Sorts numbers."
    assert describe("x", subjects.Unannotated).description == ""
    assert describe("x", subjects.InheritsTwice).description == ""
    assert describe("x", subjects.MoreFields).description == ""
    assert describe("x", subjects.plain).description == "A function."


def test_the_parameters_of_the_documented_style_are_those_of_its_constructor() -> None:
    found = live("Documented")
    assert list(found) == ["size", "rate", "name", "deep", "parameters"]
    assert found["size"] == Parameter("size", ("integer",), False, 10)
    assert found["parameters"] == Parameter("parameters", ("object", "null"))


def test_a_declared_default_is_always_allowed() -> None:
    for name in NAMES:
        for parameter in describe("x", getattr(subjects, name)).parameters:
            if not (parameter.required or parameter.opaque):
                assert parameter.problem(parameter.default) is None, f"{name}.{parameter.name}"
    assert live("Annotations")["off"].choices == ("fast", "safe", None)
    assert live("Annotations")["unset"].types == ("integer", "null")


def test_a_default_that_json_would_change_is_shown_and_never_passed_on() -> None:
    found = live("ComputedDefaults")
    opaque = {name: item.default for name, item in found.items() if item.opaque}
    assert opaque == {
        "limit": "inf",
        "colour": "Colour.RED",
        "kinds": "frozenset({'a'})",
        "text": "b'x'",
    }
    assert found["options"].default == {"a": [1, {"b": None}]}
    assert live("Unannotated")["depth"].default == [1, 2]


def test_source_shows_constants_of_its_module_and_the_text_of_expressions() -> None:
    info = describe_source("x", subjects.__name__, "ComputedDefaults", "")
    shown = {item.name: (item.default, item.opaque) for item in info.parameters}
    assert shown["size"] == (100, False)
    assert shown["twice"] == ("TWICE", True)
    assert shown["limit"] == ("math.inf", True)
    assert shown["colour"] == ("Colour.RED", True)
    encode(info)


def test_a_class_without_work_and_a_thing_that_is_neither_class_nor_function_are_refused() -> None:
    with pytest.raises(PluginError) as caught:
        describe("x", subjects.NotAnExperiment)
    assert "NotAnExperiment is not an experiment" in caught.value.message
    assert str(caught.value.where).startswith(subjects.__file__)
    with pytest.raises(PluginError, match="x is a int, neither"):
        describe("x", 3)


def test_a_function_without_a_readable_signature_is_refused_with_a_remedy() -> None:
    with pytest.raises(PluginError, match="parameters cannot be read") as caught:
        describe("x", min)
    assert caught.value.remedy


def test_metrics_are_declared_as_values_or_as_plain_mappings() -> None:
    class Measured(subjects.Documented):
        metrics: ClassVar[Any] = {
            "rows": Metric("ignored", "/s", Direction.HIGHER, machine_dependent=False),
            "price": {"unit": "usd", "direction": "lower", "machine_dependent": False},
            "other": {},
        }

    assert describe("x", Measured).metrics == (
        Metric("rows", "/s", Direction.HIGHER, machine_dependent=False),
        Metric("price", "usd", Direction.LOWER, machine_dependent=False),
        Metric("other"),
    )


def test_a_direction_that_is_none_is_refused_by_name() -> None:
    class Measured(subjects.Documented):
        metrics: ClassVar[Any] = {"rows": {"direction": "up"}}

    with pytest.raises(PluginError, match=r"metrics\.rows\.direction: expected higher, lower, unknown, got 'up'"):
        describe("x", Measured)


@pytest.mark.parametrize(
    ("module", "attribute"),
    [
        (subjects.__name__, "Missing"),
        (subjects.__name__, "SIZE"),
        ("no_such_package_at_all", "x"),
        ("no_such.package.at_all", "x"),
        ("json.no_such", "x"),
        ("math", "sqrt"),
        ("", ""),
    ],
)
def test_what_cannot_be_read_is_listed_by_name_alone(module: str, attribute: str) -> None:
    assert describe_source("x", module, attribute, "package") == ExperimentInfo("x", origin="package")


def make_package(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


FORBIDDEN = "raise RuntimeError('imported')\n"
WORK = '"""Work."""\n\ndef work(size: int = 2) -> None:\n    """Does it."""\n'


@pytest.mark.parametrize(
    ("files", "module"),
    [
        ({"one.py": FORBIDDEN + WORK}, "one"),
        (
            {"pkg/__init__.py": FORBIDDEN, "pkg/sub/__init__.py": FORBIDDEN, "pkg/sub/mod.py": FORBIDDEN + WORK},
            "pkg.sub.mod",
        ),
        ({"pkg/__init__.py": FORBIDDEN + "from .impl import work\n", "pkg/impl.py": WORK}, "pkg"),
        (
            {"pkg/__init__.py": "from pkg.impl import run as work\n", "pkg/impl.py": WORK.replace("work", "run")},
            "pkg",
        ),
        ({"space/one/two/mod.py": WORK}, "space.one.two.mod"),
        (
            {
                "space/one/mod.py": "try:\n    from .two import work\nexcept ImportError:\n    pass\n",
                "space/one/two.py": WORK,
            },
            "space.one.mod",
        ),
    ],
)
def test_source_is_found_in_packages_and_namespaces_without_importing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], module: str
) -> None:
    unique = f"p{tmp_path.name.replace('-', '_')}"
    make_package(
        tmp_path / unique, {name: text.replace("from pkg", f"from {unique}.pkg") for name, text in files.items()}
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    info = describe_source("x", f"{unique}.{module}", "work", "")
    assert (info.description, info.parameters) == ("Does it.", (Parameter("size", ("integer",), False, 2),))
    assert not [name for name in sys.modules if name.startswith(unique)]


@pytest.mark.parametrize("text", ["def broken(:\n", "x = '\x00'\n", "\xff\xfe", "from .round import work\n"])
def test_source_that_cannot_be_parsed_or_leads_nowhere_is_listed_by_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    unique = f"q{tmp_path.name}"
    make_package(tmp_path / unique, {"__init__.py": ""})
    (tmp_path / unique / "round.py").write_bytes(text.encode("latin-1"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert describe_source("x", f"{unique}.round", "work", "") == ExperimentInfo("x")


def test_a_package_of_an_editable_install_is_found_through_its_finder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.util import spec_from_file_location

    make_package(tmp_path / "code", {"__init__.py": FORBIDDEN, "mod.py": WORK})
    unique = f"e{tmp_path.name}"

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object, target: object = None) -> object:
            if name != unique:
                return None
            home = tmp_path / "code"
            return spec_from_file_location(name, home / "__init__.py", submodule_search_locations=[str(home)])

    class Broken:
        @staticmethod
        def find_spec(name: str, path: object, target: object = None) -> object:
            raise ImportError("not today")

    monkeypatch.setattr(sys, "meta_path", [Broken, *sys.meta_path, Finder])
    assert describe_source("x", f"{unique}.mod", "work", "").description == "Does it."
