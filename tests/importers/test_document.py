from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import literal, typed
from agentdyno.importers.document import Node, parse, read_document

ROOT = Node({"a": {"b": [1, 2.5, "x", None, True]}, "when": "2024-05-01 10:00:00", "odd key": -1}, "file.json")


def failure(node: Node, accessor: str) -> str:
    with pytest.raises(ImportFailed) as caught:
        getattr(node, accessor)()
    return str(caught.value).splitlines()[0]


def test_an_error_says_file_key_what_was_expected_and_what_was_found() -> None:
    elements = ROOT.at("a").at("b").elements()
    assert failure(elements[2], "number") == 'file.json: a.b[2]: expected a finite number, found "x"'
    assert failure(elements[4], "count") == "file.json: a.b[4]: expected a whole number of at least 0, found true"
    assert failure(ROOT.at("odd key"), "amount") == (
        'file.json: "odd key": expected a finite number of at least 0, found -1'
    )
    assert failure(ROOT.at("a"), "elements") == "file.json: a: expected a list, found an object"
    assert failure(ROOT.at("a").at("b"), "amounts") == (
        'file.json: a.b[2]: expected a finite number of at least 0, found "x"'
    )


def test_a_missing_key_is_named_with_where_it_should_be() -> None:
    with pytest.raises(ImportFailed, match=r"file\.json: a: has no 'c'"):
        ROOT.at("a").at("c")
    assert ROOT.get("c") is None
    with pytest.raises(ImportFailed, match="expected an object, found 1"):
        ROOT.at("a").at("b").elements()[0].get("x")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "1e-300", "true", '"1"', "null"])
def test_what_is_no_finite_number_of_a_usable_size_is_refused(value: str) -> None:
    node = Node(parse(f'{{"x": {value}}}'.encode(), "f"), "f").at("x")
    assert "expected a finite number" in failure(node, "number")


def test_a_time_without_zone_is_taken_as_utc() -> None:
    assert ROOT.at("when").time_ms() == 1714557600000
    assert Node("2024-05-01T12:00:00.250+02:00", "f").time_ms() == 1714557600250
    for bad in ("yesterday", "1969-01-01", "2024-13-01", ""):
        assert "expected a date" in failure(Node(bad, "f"), "time_ms")


def test_texts_that_no_store_can_hold_are_refused() -> None:
    assert "characters that are none" in failure(Node("a\ud800", "f"), "text")
    assert "characters that are none" in failure(Node({"a": ["\x00"]}, "f"), "plain")
    assert "finite" in failure(Node({"a": [float("nan")]}, "f"), "plain")


def test_a_value_nested_too_deep_is_refused() -> None:
    value: object = 1
    for _ in range(50):
        value = [value]
    assert "nested too deep" in failure(Node(value, "f"), "plain")
    with pytest.raises(ImportFailed, match="nested too deep"):
        parse(b"[" * 200_000, "f")


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": [1, 2', '{"a', '{"a": tru', '{"a": 1.5e', '{"a":', "{", '{"a": "x\\', '{"a": "ä']
)
def test_a_text_that_ends_too_early_is_cut_off(text: str) -> None:
    with pytest.raises(ImportFailed, match="the file is cut off"):
        parse(text.encode(), "f")


def test_a_text_that_is_wrong_in_the_middle_says_where() -> None:
    with pytest.raises(ImportFailed, match=r"not JSON: .* line 1 column 9"):
        parse(b'{"a": 1 "b": 2}', "f")
    with pytest.raises(ImportFailed, match="not JSON: Extra data"):
        parse(b'{"a": 1} x', "f")
    with pytest.raises(ImportFailed, match="not text"):
        parse(b'{"a": "\xff"}', "f")
    with pytest.raises(ImportFailed, match="cut off"):
        parse('{"a": "ä'.encode()[:-1], "f")
    with pytest.raises(ImportFailed, match="too many digits"):
        parse(b"[" + b"1" * 5000 + b"]", "f")


def test_the_same_content_packed_or_not_has_the_same_identity(tmp_path: Path) -> None:
    content = json.dumps({"a": 1}).encode()
    (tmp_path / "x.json").write_bytes(content)
    (tmp_path / "y.json.gz").write_bytes(gzip.compress(content))
    plain, packed = read_document(tmp_path / "x.json"), read_document(tmp_path / "y.json.gz")
    assert plain.content == packed.content
    assert plain.sha256 != packed.sha256
    assert (plain.stem, packed.stem) == ("x", "y")


def test_a_compressed_file_that_is_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    whole = gzip.compress(json.dumps(list(range(1000))).encode())
    path.write_bytes(whole[:-20])
    with pytest.raises(ImportFailed, match="the file is cut off"):
        read_document(path)
    path.write_bytes(whole[:40] + bytes(60) + whole[100:])
    with pytest.raises(ImportFailed, match=r"damaged|cut off|not"):
        read_document(path)


def test_parameters_that_were_written_as_text_get_their_type_back() -> None:
    assert [typed(text) for text in ("10", "-3", "0.5", "1e3", ".5")] == [10, -3, 0.5, 1000.0, 0.5]
    assert [typed(text) for text in ("dash", "", "1_000", "nan", "0x10", "9" * 40)] == [
        "dash", "", "1_000", "nan", "0x10", "9" * 40
    ]  # fmt: skip
    assert [literal(text) for text in ("'up'", "None", "[1, 'a']", "True")] == ["up", None, [1, "a"], True]
    for text in ("<function f>", "{1: 2}", "(1, 2)", "1e999", "b'x'", "'\\x00'", "[" * 300):
        assert literal(text) == text
