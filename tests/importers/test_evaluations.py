"""What holds for every importer of evaluations, on every log that its tool wrote."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentdyno.contracts import Importer
from agentdyno.errors import ImportFailed
from agentdyno.findings.figures.suite_figures import figures_of
from agentdyno.findings.record.judge import record_of
from agentdyno.importers.sniff import find_importer, head_of
from agentdyno.model import RunResult, RunStatus
from agentdyno.model.codec import encode
from agentdyno.model.identity import suite_arm_id
from agentdyno.model.result_file import decode_result
from agentdyno.store import Store
from agentdyno.store.rows import ExecutionFilter
from agentdyno.workbench.importing import save_imported

from ..properties import examples
from .evaluations import (
    ALL_LOGS,
    CAPITALS,
    DUMMY,
    EVALUATIONS,
    REPEATED,
    RIVERS,
    TABLE,
    evaluation_importer,
    members,
    read_log,
    write_archive,
)
from .known import FILES, IMPORTERS
from .test_every_format import mutate

IDS = [f"{name}-{path.parent.name}-{path.name[:8]}" for name, path in ALL_LOGS]
every_log = pytest.mark.parametrize(("name", "path"), ALL_LOGS, ids=IDS)


def stored(result: RunResult, path: Path) -> RunResult:
    """The run as a store gives it back."""
    with Store.open(path) as store:
        save_imported(store, result)
        return store.runs.load(result.run_id)


@every_log
def test_a_run_comes_out_of_a_store_as_it_went_in(name: str, path: Path, tmp_path: Path) -> None:
    result = read_log(path)
    assert stored(result, tmp_path / "dyno.db") == result


@every_log
def test_a_run_comes_out_of_a_result_file_as_it_went_in(name: str, path: Path) -> None:
    result = read_log(path)
    assert decode_result(encode(result), "result.json") == result


@every_log
def test_the_origin_names_tool_file_and_digest(name: str, path: Path) -> None:
    result = read_log(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert {**result.origin, "version": ""} == {"tool": name, "version": "", "file": path.name, "sha256": digest}
    assert result.origin["version"]
    assert result.kind == "suite"


@every_log
def test_arm_ids_are_those_of_a_suite(name: str, path: Path) -> None:
    result = read_log(path)
    assert result.suite is not None
    for arm in result.arms:
        assert arm.arm_id == suite_arm_id(result.suite.digest, arm.benchmark or "", arm.agent or "")
        assert {sample.arm_id for sample in arm.samples} <= {arm.arm_id}
    assert len({arm.arm_id for arm in result.arms}) == len(result.arms)


@every_log
def test_only_one_importer_recognises_it(name: str, path: Path) -> None:
    assert find_importer(path, (*IMPORTERS, *EVALUATIONS)).name == name


@pytest.mark.parametrize("importer", EVALUATIONS, ids=lambda item: item.name)
def test_files_of_other_tools_are_not_recognised(importer: Importer) -> None:
    for paths in FILES.values():
        assert not any(importer.recognises(path, head_of(path)) for path in paths)


@every_log
def test_a_copy_under_another_name_is_the_same_run(name: str, path: Path, tmp_path: Path) -> None:
    shutil.copytree(path.parent, tmp_path / "copy")
    assert read_log(tmp_path / "copy" / path.name).run_id == read_log(path).run_id


@every_log
def test_a_truncated_log_is_refused_as_cut_off(name: str, path: Path, tmp_path: Path) -> None:
    content = path.read_bytes().rstrip()
    for share in (0.1, 0.5, 0.9, 0.999):
        cut = tmp_path / path.name
        cut.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(ImportFailed, match="the file is cut off"):
            evaluation_importer(name).read(cut)


def test_real_agents_are_on_the_matrix_and_simulated_ones_are_not(tmp_path: Path) -> None:
    with Store.open(tmp_path / "dyno.db") as store:
        for path in (CAPITALS, RIVERS, REPEATED, TABLE, DUMMY):
            save_imported(store, read_log(path))
        rows = store.boards.executions(ExecutionFilter(), limit=100)
        assert {(row.agent, row.benchmark, row.status) for row in rows} == {
            ("mockllm/model", "capitals", "success"),
            ("table/lookup", "rivers", "success"),
            ("table", "bodies-again", "success"),
            ("acme/table-2", "everyday", "success"),
            ("acme/table-2", "sums", "success"),
            ("dummy", "everyday", "success"),
        }
        assert {row.agent for row in rows if row.simulated} == {"mockllm/model", "dummy"}
        matrix = {(row.agent, row.benchmark): row.accuracy for row in store.boards.matrix_rows()}
    assert matrix == {
        ("table/lookup", "rivers"): 0.75,
        ("table", "bodies-again"): 0.75,
        ("acme/table-2", "everyday"): 0.375,
        ("acme/table-2", "sums"): 0.4,
    }


def test_an_imported_agent_has_a_record_of_its_cases() -> None:
    result = read_log(REPEATED)
    agent = result.arms[0].agent or ""
    record = record_of(result, figures_of(result), agent)
    assert [(case.case_id, case.tries, case.passed, case.score) for case in record.cases] == [
        ("test-1", 3, 3, 1.0),
        ("test-2", 3, 0, 0.5),
    ]
    assert record.origin == "promptfoo, repeated.json"
    assert record.configuration == {"edition": 3, "prompt": "What is the {{body}}?"}


@dataclass
class Keeper:
    """One store for every example: opening one costs more than reading a log."""

    store: Store
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def kept(self, result: RunResult) -> RunResult:
        """The run as the store gives it back; there it has an id of its own, for copies of a log share theirs."""
        renamed = replace(result, run_id=f"{next(self._numbers):08x}-0000-7000-8000-000000000000")
        save_imported(self.store, renamed)
        return replace(self.store.runs.load(renamed.run_id), run_id=result.run_id)


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    with Store.open(tmp_path_factory.mktemp("kept") / "dyno.db") as store:
        yield Keeper(store)


def check(keeper: Keeper, name: str, path: Path, content: bytes, beside: bytes | None = None) -> None:
    """Either refused, or a result that can be kept."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "logs" / path.name
        shutil.copytree(path.parent, copy.parent)
        copy.write_bytes(content)
        if beside is not None:
            next(copy.parent.glob("samples_*")).write_bytes(beside)
        evaluation_importer(name).recognises(copy, content[: 64 * 1024])
        try:
            results = evaluation_importer(name).read(copy)
        except ImportFailed as error:
            str(error).encode()
            return
        for result in results:
            assert result.status is not RunStatus.RUNNING
            assert decode_result(encode(result), "f") == result
            for arm in result.arms:
                assert all(math.isfinite(metric.mean) for metric in arm.metrics.values())
                scores = [value for sample in arm.samples for value in sample.scores.values() if value is not None]
                assert all(0.0 <= value <= 1.0 for value in scores)
                assert arm.scores["accuracy"] is None or 0.0 <= arm.scores["accuracy"] <= 1.0
            assert keeper.kept(result) == result


def mutated(content: object, data: st.DataObject) -> object:
    for _ in range(data.draw(st.integers(1, 3))):
        content = mutate(content, data)
    return content


patient = examples(120, HealthCheck.data_too_large)


@patient
@given(data=st.data())
def test_a_mutated_log_is_refused_or_valid(keeper: Keeper, data: st.DataObject) -> None:
    name, path = data.draw(st.sampled_from(ALL_LOGS))
    if path.suffix == ".eval":
        content = members(path)
        member = data.draw(st.sampled_from(sorted(content)))
        with TemporaryDirectory() as folder:
            changed = {**content, member: mutated(content[member], data)}
            raw = write_archive(Path(folder) / "log.eval", changed).read_bytes()
    else:
        raw = json.dumps(mutated(json.loads(path.read_bytes()), data)).encode()
    check(keeper, name, path, raw)


@patient
@given(data=st.data())
def test_mutated_samples_beside_a_log_are_refused_or_valid(keeper: Keeper, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([TABLE, DUMMY]))
    lines = next(path.parent.glob("samples_*")).read_text().splitlines()
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = json.dumps(mutated(json.loads(lines[place]), data))
    check(keeper, "lm-eval", path, path.read_bytes(), "\n".join(lines).encode())


@patient
@given(data=st.data())
def test_mutated_and_truncated_bytes_are_refused_or_valid(keeper: Keeper, data: st.DataObject) -> None:
    name, path = data.draw(st.sampled_from(ALL_LOGS))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    content = bytes(raw[: data.draw(st.integers(0, len(raw)))]) if data.draw(st.booleans()) else bytes(raw)
    check(keeper, name, path, content)
