"""Two parsers read YAML: a quick one, and one that says what is wrong. What they accept has to be the same."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.specs.files import yaml_text
from agentdyno.specs.files.yaml_text import parse_yaml

WORDS = [
    *["a", "b:", ": ", "- ", "? ", "[", "]", "{", "}", ",", "&x ", "*x", "<<: ", "!!str ", "1", "0x1F", "true", "~"],
    *["é", "'", '"', "#", "> ", "|", "|#", "%", "...", "\t", "\\n", "\U0001f600", " ", "  ", "\n", "\n  ", "---\n"],
    *["a: 1\n", "- x\n"],
]


def read_slowly(text: str, monkeypatch: pytest.MonkeyPatch) -> object:
    with monkeypatch.context() as patched:
        patched.setattr(yaml_text, "_quick", yaml_text._Loader)
        yaml_text.compose.cache_clear()
        return read(text)


def read(text: str) -> object:
    yaml_text.compose.cache_clear()
    try:
        return repr(parse_yaml(text, "spec.yaml"))
    except SpecError as error:
        return str(error)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join))
def test_both_parsers_give_the_same_value_or_the_same_mistake(text: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert read(text) == read_slowly(text, monkeypatch)


def test_the_quick_parser_is_there() -> None:
    assert yaml.__with_libyaml__, "a suite of 1,000 cases is read five times as fast with it"


def test_a_document_that_is_read_twice_is_two_documents() -> None:
    first, second = parse_yaml("a: [1]", "x"), parse_yaml("a: [1]", "x")
    assert isinstance(first, dict)
    first["a"].append(2)
    assert second == {"a": [1]}
