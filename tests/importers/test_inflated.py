"""Files that unpack to more than an import may hold are refused before anything of them is read."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from agentdyno.errors import ImportTooLarge
from agentdyno.importers.inflated import ImportLimits, check_sizes

LIMITS = ImportLimits(total_bytes=1000, member_bytes=600, members=5, ratio=10, any_ratio_bytes=300)


def archive(path: Path, *members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, content in enumerate(members):
            packed.writestr(f"samples/{number}.json", content)
    return path


def refusal(*paths: Path, limits: ImportLimits = LIMITS) -> str:
    with pytest.raises(ImportTooLarge) as told:
        check_sizes(paths, limits)
    assert told.value.where == paths[-1].name
    assert "--any-size" in str(told.value.remedy)
    return told.value.message


def mixed(count: int) -> bytes:
    """Bytes that do not pack."""
    state, found = 1, bytearray()
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        found.append(state >> 16 & 0xFF)
    return bytes(found)


def test_what_is_within_every_limit_passes(tmp_path: Path) -> None:
    plain = tmp_path / "plain.json"
    plain.write_bytes(mixed(300))
    check_sizes([plain, archive(tmp_path / "log.eval", mixed(300), mixed(300))], LIMITS)


@pytest.mark.parametrize("form", ["plain", "gzip", "two gzips in a row", "zip"])
def test_one_file_that_is_too_large_is_refused_however_it_is_packed(tmp_path: Path, form: str) -> None:
    path, content = tmp_path / "big.json", mixed(601)
    if form == "zip":
        archive(path, b"{}", content)
    else:
        packed = {"plain": content, "gzip": gzip.compress(content)}
        path.write_bytes(packed.get(form) or gzip.compress(content[:400]) + gzip.compress(content[400:]))
    assert refusal(path) == "holds a file of more than 600 bytes"


def test_files_that_are_small_alone_are_refused_together(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path in paths:
        path.write_bytes(mixed(400))
    assert refusal(*paths) == "unpacked, this import holds more than 1,000 bytes"
    with pytest.raises(ImportTooLarge, match="more than 1,000 bytes"):
        check_sizes([tmp_path], LIMITS)  # a folder is all that is in it


def test_too_many_members_are_refused_and_a_long_directory_is_not_even_listed(tmp_path: Path) -> None:
    assert refusal(archive(tmp_path / "many.eval", *[b"{}"] * 6)) == "this import holds more than 5 files"
    long = tmp_path / "long.eval"
    with zipfile.ZipFile(long, "w") as packed:
        packed.writestr("a" * 2000, b"{}")
    assert refusal(long) == "this import holds more than 5 files"


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_grows_too_much_is_refused(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "bomb.eval"
    if packed:
        archive(path, b" " * 590, b" " * 300, b" " * 100)
        limits = ImportLimits(total_bytes=10_000, member_bytes=600, members=5, ratio=1, any_ratio_bytes=300)
    else:
        path.write_bytes(gzip.compress(b" " * 590))
        limits = LIMITS
    assert refusal(path, limits=limits).startswith(f"unpacks to more than {limits.ratio} times its own ")


def test_small_files_may_pack_well(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(gzip.compress(b" " * 300))
    check_sizes([path], LIMITS)


def test_damaged_files_are_left_to_their_importer(tmp_path: Path) -> None:
    damaged = {
        "cut.eval": b"PK\x03\x04",
        "cut.gz": gzip.compress(mixed(300))[:100],
        "bad.gz": b"\x1f\x8bxxxxxxxxxxxx",
    }
    paths = [tmp_path / name for name in damaged]
    for path in paths:
        path.write_bytes(damaged[path.name])
    check_sizes([*paths, tmp_path / "missing.json"], LIMITS)
