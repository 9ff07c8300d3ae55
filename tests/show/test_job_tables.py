"""Jobs as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.model.job import Job, JobStatus
from agentdyno.show.job_tables import done_of, job_table
from agentdyno.show.table import Cell, Tone

JOB = Job("0198c3a1-7f2b-7000-8000-000000000001", "quick@1", "a", "daily-work", "s", 0, created_by="ci")


def cells(job: Job) -> dict[str, Cell]:
    table = job_table([job])
    return {column.header: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}


def test_a_job_that_no_worker_offers_says_so_instead_of_what_went_wrong_before() -> None:
    waiting = replace(JOB, waits_because="no worker offers it: none is running", error="earlier")
    assert cells(waiting)["what is wrong"] == Cell("no worker offers it: none is running", Tone.WARN)
    failed = replace(JOB, status=JobStatus.FAILED, error="no\nkey")
    assert cells(failed)["what is wrong"] == Cell("no key", Tone.BAD)
    assert cells(JOB)["what is wrong"].text == ""


def test_a_job_is_named_by_the_beginning_of_its_id_and_says_whether_it_is_being_cancelled() -> None:
    running = replace(JOB, status=JobStatus.RUNNING, cancel_requested=True, progress={"done": 3, "planned": 10})
    row = cells(running)
    assert (row["job"].text, row["status"].text, row["done"].text) == (
        *("0198c3a1-7f2b-7000", "running, to be cancelled"),
        "3/10",
    )


@pytest.mark.parametrize("progress", [{}, {"done": 1}, {"done": None, "planned": 2}])
def test_how_far_a_job_is_stays_open_where_nobody_knows(progress: dict[str, object]) -> None:
    assert done_of(replace(JOB, progress=progress)) == ""


def test_an_empty_list_says_how_to_ask() -> None:
    assert "dyno run SUITE --agent AGENT --server URL" in job_table([]).notes[0]
