"""Stores of every revision of the schema: each is migrated and says what it said."""

from __future__ import annotations

import json
import re

import pytest

from .asking import Project
from .golden import check
from .plain import round_text

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
QUESTIONS = {
    "runs": ("list", "runs"),
    "show": ("show", "last"),
    "board": ("board",),
    "matrix": ("board", "--matrix"),
    "stale": ("board", "--stale"),
    "baselines": ("baseline", "show"),
    "jobs": ("jobs", "list"),
    "keys": ("keys", "list"),
}
OF_SWEEPS = {"sweep": ("history", "sorting size=100", "--metric", "duration_s")}
OF_SUITES = {
    "history": ("history", "helper"),
    "case": ("show", "{suite}", "--case", "order-00", "--agent", "helper"),
    "cost": ("cost", "--reliability"),
    "changes": ("changes",),
}
SUITE_RUN = {"0002": "019b8127", "0003": "019b8127", "0004": "019b8b74", "0005": "019b95c0"}
"""The run of the suite that is looked at, by its beginning."""


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_store_of_every_revision_says_what_it_said(revision: str, project: Project) -> None:
    project.put_store(revision)
    assert json.loads(project.text("store", "migrate", "--json"))["from"] == revision
    suite = SUITE_RUN.get(revision, "")
    questions = QUESTIONS | (OF_SUITES if suite else {}) | (OF_SWEEPS if revision != "0004" else {})
    for name, question in questions.items():
        asked = [part.format(suite=suite) for part in question]
        check(f"stores/{revision}/{name}.json", round_text(project.text(*asked, "--json")))
    if suite:
        check(f"stores/{revision}/suite.txt", project.text("show", suite))


def test_an_old_store_is_refused_until_it_is_migrated(project: Project) -> None:
    project.put_store("0001")
    done = project.ask("list", "runs")
    # The newest revision is the one thing here that moves on.
    check("stores/refused.txt", f"exit code {done.code}\n{re.sub(r'uses [0-9]{4}', 'uses <newest>', done.err)}")
