from __future__ import annotations

import gzip
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import outline
from agentdyno.importers.sniff import HEAD_BYTES, find_importer, head_of
from agentdyno.model import RunResult

from .known import ALL, ASV, FIXTURES, IMPORTERS


class _Greedy:
    name = "greedy"
    description = "takes everything"

    def recognises(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path) -> Sequence[RunResult]:
        return []


@pytest.mark.parametrize(("name", "path"), ALL, ids=[path.name for _, path in ALL])
def test_each_file_is_recognised_by_its_own_importer_alone(name: str, path: Path) -> None:
    head = head_of(path)
    assert [item.name for item in IMPORTERS if item.recognises(path, head)] == [name]
    assert find_importer(path, IMPORTERS).name == name


@pytest.mark.parametrize(("name", "path"), ALL, ids=[path.name for _, path in ALL])
def test_the_name_of_a_file_is_not_needed(name: str, path: Path, tmp_path: Path) -> None:
    anonymous = tmp_path / "data"
    anonymous.write_bytes(path.read_bytes())
    assert find_importer(anonymous, IMPORTERS).name == name


def test_a_folder_of_asv_is_recognised_and_another_folder_is_not(tmp_path: Path) -> None:
    assert find_importer(ASV, IMPORTERS).name == "asv"
    assert find_importer(ASV / "bench-box", IMPORTERS).name == "asv"
    with pytest.raises(ImportFailed, match="of no known format"):
        find_importer(tmp_path, IMPORTERS)


@pytest.mark.parametrize(
    "content",
    [b'{"hello": 1}', b"[1, 2]", b"name,value\na,1\n", b"\x00\x01\x02", b'{"benchmarks": []}', b'{"results": []}'],
)
def test_an_unknown_format_is_refused_naming_the_known_ones(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(ImportFailed, match="of no known format") as caught:
        find_importer(path, IMPORTERS)
    assert "asv, google-benchmark, hyperfine, pyperf, pytest-benchmark" in str(caught.value)


def test_two_importers_that_recognise_a_file_are_both_named_with_the_option_that_decides() -> None:
    path = FIXTURES / "hyperfine" / "two.json"
    with pytest.raises(ImportFailed, match="greedy and hyperfine") as caught:
        find_importer(path, [*IMPORTERS, _Greedy()])
    assert "--format greedy" in str(caught.value)


def test_an_empty_file_and_a_missing_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_bytes(b" \n")
    with pytest.raises(ImportFailed, match="the file is empty"):
        find_importer(tmp_path / "empty.json", IMPORTERS)
    with pytest.raises(ImportFailed, match="No such file"):
        find_importer(tmp_path / "missing.json", IMPORTERS)


def test_the_head_is_unpacked_and_at_most_64_kib(tmp_path: Path) -> None:
    content = b'{"key": "' + b"x" * 200_000 + b'"}'
    plain, packed, bundle = tmp_path / "a", tmp_path / "b.gz", tmp_path / "c.zip"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.json", content)
        archive.writestr("second.json", b"{}")
    for path in (plain, packed, bundle):
        assert head_of(path) == content[:HEAD_BYTES]


def test_a_damaged_packing_gives_the_bytes_as_they_are(tmp_path: Path) -> None:
    for content in (b"\x1f\x8bnot gzip", b"PK\x03\x04not zip"):
        (tmp_path / "file").write_bytes(content)
        assert head_of(tmp_path / "file") == content


def test_the_outline_of_a_text_that_is_cut_off_has_the_keys_before_the_cut() -> None:
    text = b'{"a": {"b": [1, {"c": "x: {", "d\\"e": 2}]}, "f": "unfini{shed: \\" '
    assert outline(text) == {"a", "a.b", "a.b[].c", 'a.b[].d"e', "f"}
    assert outline(text[:9]) == {"a"}
    assert outline(b"[1]") == outline(b"") == frozenset()
