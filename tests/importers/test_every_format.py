"""What holds for every importer, on every file that its tool wrote."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentdyno.errors import ImportFailed
from agentdyno.model import Arm, RunResult, RunStatus
from agentdyno.model.codec import encode
from agentdyno.model.result_file import decode_result
from agentdyno.store import Store

from .known import ALL, copy_with, importer, read

IDS = [f"{name}-{path.name[:12]}" for name, path in ALL]
every_file = pytest.mark.parametrize(("name", "path"), ALL, ids=IDS)


def stored(result: RunResult, path: Path) -> RunResult:
    """The run as a store gives it back."""
    arms = [Arm(arm.arm_id, arm.name, arm.experiment, arm.params) for arm in result.arms]
    with Store.open(path) as store:
        store.runs.begin(
            replace(result, status=RunStatus.RUNNING), arms, {arm.arm_id: arm.planned for arm in result.arms}
        )
        for arm in result.arms:
            for sample in arm.samples:
                store.runs.append(result.run_id, sample)
        store.runs.finish(result)
        return store.runs.load(result.run_id)


@every_file
def test_a_run_comes_out_of_a_store_as_it_went_in(name: str, path: Path, tmp_path: Path) -> None:
    result = read(path)
    assert stored(result, tmp_path / "dyno.db") == result


@every_file
def test_a_run_comes_out_of_a_result_file_as_it_went_in(name: str, path: Path) -> None:
    result = read(path)
    assert decode_result(encode(result), "result.json") == result


@every_file
def test_the_origin_names_tool_file_and_digest(name: str, path: Path) -> None:
    result = read(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert {**result.origin, "version": ""} == {"tool": name, "version": "", "file": path.name, "sha256": digest}
    assert (result.kind, result.status, result.seed) == ("experiment", RunStatus.COMPLETE, 0)


@every_file
def test_the_same_content_has_the_same_id_and_other_content_another(name: str, path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    same = copy_with(Path("copy.json"), content, tmp_path)
    assert read(same).run_id == read(path).run_id
    same.write_bytes(content + b"\n")
    assert read(same).run_id != read(path).run_id


@every_file
def test_a_truncated_file_is_refused_as_cut_off(name: str, path: Path, tmp_path: Path) -> None:
    content = path.read_bytes().rstrip()
    for share in (0.1, 0.5, 0.9, 0.999):
        cut = copy_with(path, content[: int(len(content) * share)], tmp_path)
        with pytest.raises(ImportFailed, match="the file is cut off"):
            importer(name).read(cut)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, 2**63, -(10**400), 1e308, 5e-324, math.nan, math.inf, -1e-9, 1e-60]),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["NaN", "\x00", "\ud800", "1.0", "2024-01-01", "9999-12-31T23:59:59-23:00", "a/b:c<", "[" * 5]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def mutate(plain: object, data: st.DataObject) -> object:
    """The document with one value somewhere replaced, removed or doubled."""
    if isinstance(plain, dict) and plain and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(plain)))
        what = data.draw(st.integers(0, 9))
        if what == 0:
            return {name: value for name, value in plain.items() if name != key}
        if what == 1:
            return {data.draw(st.text(max_size=4)) if name == key else name: plain[name] for name in plain}
        return {**plain, key: mutate(plain[key], data)}
    if isinstance(plain, list) and plain and data.draw(st.integers(0, 9)):
        place = data.draw(st.integers(0, len(plain) - 1))
        what = data.draw(st.integers(0, 9))
        if what == 0:
            return plain[:place] + plain[place + 1 :]
        if what == 1:
            return [*plain[:place], plain[place], *plain[place:]]
        return [*plain[:place], mutate(plain[place], data), *plain[place + 1 :]]
    return data.draw(ODD)


def check(name: str, path: Path, content: bytes) -> None:
    """Either refused, or a result that can be kept."""
    with TemporaryDirectory() as folder:
        copy = copy_with(path, content, Path(folder))
        importer(name).recognises(copy, content[: 64 * 1024])
        try:
            results = importer(name).read(copy)
        except ImportFailed as error:
            str(error).encode()
            return
        for result in results:
            assert decode_result(encode(result), "f") == result
            assert all(math.isfinite(m.mean) for arm in result.arms for m in arm.metrics.values())
            assert stored(result, Path(folder) / "dyno.db") == result


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_mutated_document_is_refused_or_valid(data: st.DataObject) -> None:
    name, path = data.draw(st.sampled_from(ALL))
    raw = path.read_bytes()
    plain = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    for _ in range(data.draw(st.integers(1, 3))):
        plain = mutate(plain, data)
    check(name, path, json.dumps(plain).encode())


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_and_truncated_bytes_are_refused_or_valid(data: st.DataObject) -> None:
    name, path = data.draw(st.sampled_from(ALL))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    check(name, path, bytes(raw[: data.draw(st.integers(0, len(raw)))]) if data.draw(st.booleans()) else bytes(raw))
