"""Taking results of other tools into the store: all files or none, each run once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.findings.history.ask import Histories
from agentdyno.importers.timings.asv import AsvImporter
from agentdyno.importers.timings.hyperfine import HyperfineImporter
from agentdyno.importers.timings.pyperf import PyperfImporter
from agentdyno.model import Arm, RunResult, RunStatus
from agentdyno.registry import registered
from agentdyno.registry.names import register
from agentdyno.reports import render_console
from agentdyno.show.listings import import_table
from agentdyno.store import Store
from agentdyno.workbench.importing import import_files, importers, read_file

FIXTURES = Path(__file__).parent.parent / "importers" / "fixtures"
PYPERF = FIXTURES / "pyperf" / "words.json"
HYPERFINE = FIXTURES / "hyperfine" / "two.json"
ASV = FIXTURES / "asv" / "results"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "dyno.db") as opened:
        yield opened


def test_every_file_is_stored_with_its_samples_and_origin(store: Store) -> None:
    seen: list[Path] = []
    done = import_files(store, [PYPERF, HYPERFINE], on_file=seen.append)
    assert seen == [PYPERF, HYPERFINE]
    assert [(item.importer, item.known) for item in done] == [("pyperf", False), ("hyperfine", False)]
    for item in done:
        stored = store.runs.load(item.result.run_id)
        assert stored.status is RunStatus.COMPLETE
        assert stored.origin["tool"] == item.importer
        assert [arm.metrics for arm in stored.arms] == [arm.metrics for arm in item.result.arms]
        assert [len(arm.samples) for arm in stored.arms] == [len(arm.samples) for arm in item.result.arms]
    assert len(store.runs.newest()) == 2


def test_one_file_that_cannot_be_read_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_bytes(PYPERF.read_bytes()[:-200])
    with pytest.raises(ImportFailed, match=r"cut\.json"):
        import_files(store, [HYPERFINE, PYPERF, cut])
    assert store.runs.newest() == []


def test_what_is_imported_twice_is_known_the_second_time(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    shutil.copy(PYPERF, copy)
    first = import_files(store, [PYPERF])
    again = import_files(store, [PYPERF])
    assert [item.known for item in (*first, *again)] == [False, True]
    assert [item.known for item in import_files(store, [HYPERFINE, HYPERFINE])] == [False, True]
    assert [item.known for item in import_files(store, [copy])] == [True], "the content counts, not the name"
    assert len(store.runs.newest()) == 2
    text = render_console(import_table([*first, *again]))
    assert "new" in text
    assert "known" in text


def test_an_import_that_was_killed_is_finished_by_the_next(store: Store) -> None:
    _, (result,) = read_file(PYPERF)
    _begin(store, result)
    for sample in result.arms[0].samples[:-2]:
        store.runs.append(result.run_id, sample)
    store.runs.commit()
    assert store.runs.load(result.run_id).status is RunStatus.RUNNING
    (item,) = import_files(store, [PYPERF])
    assert not item.known
    whole = store.runs.load(result.run_id)
    assert whole.status is RunStatus.COMPLETE
    assert [len(arm.samples) for arm in whole.arms] == [len(arm.samples) for arm in result.arms]
    assert [item.known for item in import_files(store, [PYPERF])] == [True]


def test_an_import_that_began_and_stored_nothing_is_finished_too(store: Store) -> None:
    _, (result,) = read_file(HYPERFINE)
    _begin(store, result)
    assert [item.known for item in import_files(store, [HYPERFINE])] == [False]
    assert store.runs.load(result.run_id).arms[0].metrics == result.arms[0].metrics


def test_reading_stores_nothing(store: Store) -> None:
    name, results = read_file(PYPERF)
    assert (name, len(results)) == ("pyperf", 1)
    assert store.runs.newest() == []


def test_a_folder_of_asv_gives_a_history(store: Store) -> None:
    done = import_files(store, [ASV])
    assert len(done) > 1
    assert {item.importer for item in done} == {"asv"}
    row = store.boards.arm_series()[0]
    history = Histories(store).of(row.name, next(iter(row.metrics)))
    assert history.points
    assert [point.at for point in history.points] == sorted(point.at for point in history.points)


def test_an_unknown_format_answers_with_the_nearest_and_the_wrong_one_says_what_is_wrong(store: Store) -> None:
    with pytest.raises(ImportFailed, match=r"no format 'pyperff'\n  Did you mean pyperf"):
        import_files(store, [PYPERF], format_name="pyperff")
    with pytest.raises(ImportFailed) as caught:
        import_files(store, [PYPERF], format_name="hyperfine")
    assert "words.json" in str(caught.value)
    assert store.runs.newest() == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2]", b"\x00\xff", b"not json at all"])
def test_a_file_of_no_known_format_is_refused(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(ImportFailed, match=r"odd\.json"):
        import_files(store, [path])
    for name in importers():
        with pytest.raises(ImportFailed, match="odd"):
            read_file(path, name)


def test_what_is_not_there_or_an_empty_folder_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=r"gone\.json: cannot be read: No such file"):
        import_files(store, [tmp_path / "gone.json"])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ImportFailed, match="empty: of no known format"):
        import_files(store, [empty])
    for name in importers():
        for path in (tmp_path / "gone.json", empty):
            with pytest.raises(ImportFailed):
                read_file(path, name)


class Own:
    """An importer of somebody else."""

    name = "own"
    description = "A line is a run."

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.suffix == ".own" and bool(head)

    def read(self, path: Path) -> Sequence[RunResult]:
        _, results = read_file(PYPERF)
        return [replace(result, name=path.stem) for result in results]


def test_an_importer_of_another_package_comes_in_by_its_entry_point(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentdyno.registry import names

    monkeypatch.setattr(names, "_registered", {**names._registered}, raising=False)
    if "own" not in registered("importers"):
        register("importers", "own", Own)
    path = tmp_path / "mine.own"
    path.write_text("1")
    (item,) = import_files(store, [path])
    assert (item.importer, item.result.name) == ("own", "mine")


def test_the_importers_of_this_package_are_found_by_name() -> None:
    found = importers()
    for kind in (PyperfImporter, HyperfineImporter, AsvImporter):
        assert isinstance(found[kind.name], kind)


def _begin(store: Store, result: RunResult) -> None:
    """What a killed import leaves: a run that has begun."""
    arms = [Arm(arm.arm_id, arm.name, arm.experiment, arm.params) for arm in result.arms]
    header = replace(result, status=RunStatus.RUNNING, finished_at=None)
    store.runs.begin(header, arms, {arm.arm_id: arm.planned for arm in result.arms})
