"""A list in a text gets one more item; everything else of the text stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.specs.files.append import append_item
from agentdyno.specs.files.yaml_text import parse_yaml

NEW = {"id": "new", "input": "x"}


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("cases: []  # none yet\n", ("cases",), 'cases: [{"id": "new", "input": "x"}]  # none yet\n'),
        ("cases: [{id: a}]", ("cases",), 'cases: [{id: a}, {"id": "new", "input": "x"}]'),
        ("[\n  1, # one\n  2, # two\n]\n", (), '[\n  1, # one\n  2, {"id": "new", "input": "x"}, # two\n]\n'),
        ('{"cases": [1]}', ("cases",), '{"cases": [1, {"id": "new", "input": "x"}]}'),
        ("a:\n- b: 1  # why\n# end\n", ("a",), 'a:\n- b: 1  # why\n- id: "new"\n  input: "x"\n# end\n'),
        ("a:\n  - |\n    text\n\nb: 1\n", ("a",), 'a:\n  - |\n    text\n\n  - id: "new"\n    input: "x"\nb: 1\n'),
        ("- a", (), '- a\n- id: "new"\n  input: "x"\n'),
        ("x:\n  - y: [1]\n", ("x", 0, "y"), 'x:\n  - y: [1, {"id": "new", "input": "x"}]\n'),
    ],
)
def test_an_item_is_added_in_the_style_of_its_list(text: str, path: tuple[str | int, ...], expected: str) -> None:
    assert append_item(text, path, NEW, "suite.yaml") == expected


@pytest.mark.parametrize("text", ["cases: 3\n", "other: []\n", "a: &x [1]\ncases: *x\n"])
def test_what_is_no_list_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"suite\.yaml: (there is no list|nothing can be added)"):
        append_item(text, ("cases",), NEW, "suite.yaml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=3))
def test_whatever_is_added_is_read_back_as_it_was(items: list[object]) -> None:
    flow, block = "a: 1\ncases: [] # none\nb: 2\n", "# top\ncases:\n  - 1 # one\n# end\n"
    for item in items:
        flow, block = (append_item(text, ("cases",), item, "x") for text in (flow, block))
    assert parse_yaml(flow, "x") == {"a": 1, "cases": items, "b": 2}
    assert parse_yaml(block, "x") == {"cases": [1, *items]}
    assert block.startswith("# top\n")
    assert block.endswith("# end\n")
