"""Two versions of a suite, side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import Suite
from agentdyno.runs.suite.published import changed_version
from agentdyno.specs import parse_suite
from agentdyno.store import Store
from agentdyno.workbench.suites.difference import compare_suites, difference_table, summary
from agentdyno.workbench.suites.finding import find_suite

CASES = [{"id": "a", "input": "1 + 1", "target": "2"}, {"id": "b", "input": "2 + 2", "target": "4"}]


def suite(cases: list[dict[str, str]], **settings: object) -> Suite:
    document = {"name": "sums", "dataset": list(cases), "scoring_rubric": "exact", **settings}
    return parse_suite(document).suite


def test_cases_that_came_went_and_changed_are_named() -> None:
    new = [{**CASES[0], "target": "two"}, {"id": "c", "input": "3 + 3", "target": "6"}]
    found = compare_suites(suite(CASES), suite(new))
    told = [(item.kind.value, item.case, item.field, item.old, item.new) for item in found.changes]
    assert told == [
        ("changed", "a", "target", "2", "two"),
        ("removed", "b", "", "2 + 2", None),
        ("added", "c", "", None, "3 + 3"),
    ]
    assert summary(found) == "Cases: 1 added, 1 removed, 1 changed."
    assert len(difference_table(found).rows) == 3


def test_another_rubric_is_another_version_without_a_changed_case() -> None:
    found = compare_suites(suite(CASES), suite(CASES, scoring_rubric={"scorer": "exact", "pass_threshold": 0.9}))
    assert not found.same
    assert [item.field for item in found.changes] == ["rubric.pass_threshold"]
    assert summary(found) == "No case differs. Judged or limited otherwise, or whole benchmarks: sums."


def test_agents_and_descriptions_make_no_version() -> None:
    found = compare_suites(suite(CASES), suite(CASES, description="for children", epochs=3))
    assert found.same
    assert not found.changes
    assert summary(found) == f"The same contents: {found.new}."


def test_a_version_is_found_by_file_id_digest_and_declared_version(tmp_path: Path) -> None:
    old, new = suite(CASES, version="1"), suite(CASES[:1], version="2")
    (tmp_path / "suite.yaml").write_text("name: sums\ndataset: [{input: 1 + 1, target: '2'}]\n", encoding="utf-8")
    with Store.open(tmp_path / "dyno.db") as store:
        store.boards.add_suite(old, now_ms=1)
        store.boards.add_suite(new, now_ms=2)
        assert find_suite("sums", store).digest == new.digest
        assert find_suite("sums@1", store).digest == old.digest
        assert find_suite(old.digest[:8], store).digest == old.digest
        assert find_suite(str(tmp_path / "suite.yaml"), store).name == "sums"
        with pytest.raises(SpecError, match="'sumz' is no suite file, no suite of the store"):
            find_suite("sumz", store)


def test_a_published_version_that_may_change_does_not_do_so_silently(tmp_path: Path) -> None:
    old, new = suite(CASES, version="1"), suite(CASES[:1], version="1")
    with Store.open(tmp_path / "dyno.db") as store:
        store.boards.add_suite(old, now_ms=1)
        assert changed_version(old, store, None) == ()
        assert changed_version(suite(CASES[:1], version="2"), store, None) == ()
        (warning,) = changed_version(new, store, None, allowed=True)
    assert warning.message == f"version 1 of sums was run with other contents before ({old.digest})"
    assert warning.remedy is not None
    assert f"dyno suite diff {old.digest}" in warning.remedy


def test_other_contents_of_a_published_version_are_refused(tmp_path: Path) -> None:
    old, new = suite(CASES, version="1"), suite(CASES[:1], version="1")
    with Store.open(tmp_path / "dyno.db") as store:
        store.boards.add_suite(old, now_ms=1)
        assert changed_version(old, store, None) == ()
        with pytest.raises(
            SpecError, match=f"with other contents before .{old.digest}.; now they are {new.digest}"
        ) as told:
            changed_version(new, store, None)
    assert told.value.remedy is not None
    assert told.value.remedy.startswith("Raise its `version:`.")
    assert told.value.remedy.endswith(
        "--allow-changed-suite, in Python, marks and jobs `allow_changed_suite`, runs it all the same."
    )


def test_the_table_shows_where_two_long_texts_part_and_scorers_in_words() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve thirteen "
    old = suite([{"id": "a", "input": f"{long}old end", "target": "2"}])
    scorer = [{"name": "numeric", "weight": 2, "relative": 0.01}, "includes"]
    new = suite([{"id": "a", "input": f"{long}new end", "target": "2"}], scoring_rubric={"scorer": scorer})
    table = difference_table(compare_suites(old, new))
    told = {row[3].text: (row[4].text, row[5].text) for row in table.rows}
    assert told["input"] == ("…ven twelve thirteen old end", "…ven twelve thirteen new end")
    assert told["rubric.scorers"] == ("exact", "numeric (weight=2, relative=0.01), includes")
