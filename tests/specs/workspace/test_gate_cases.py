"""What a gate asks of single cases, as dyno.yaml says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.model.policy import CasePolicy, Quarantine
from agentdyno.specs import load_workspace
from agentdyno.workbench.starter_project.files import WORKSPACE

EVERYTHING = """
gate:
  minimum: {accuracy: 0.95, reliability: 1}
  must_pass: [login-*, safety, 7]
  max_broken: 0
  require: {pass_rate: 0.8}
  quarantine:
    - {case: refund-17, reason: the oracle is being mended, until: 2026-12-31}
    - {case: "slow-*", reason: too slow, until: "2026-01-01"}
"""


def read(folder: Path, text: str) -> CasePolicy:
    (folder / "dyno.yaml").write_text(text)
    return load_workspace(folder).gate.cases


def test_every_rule_about_cases_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, EVERYTHING) == CasePolicy(
        minimum={"accuracy": 0.95, "reliability": 1.0},
        must_pass=("login-*", "safety", "7"),
        max_broken=0,
        pass_rate=0.8,
        quarantine=(
            Quarantine("refund-17", "the oracle is being mended", "2026-12-31"),
            Quarantine("slow-*", "too slow", "2026-01-01"),
        ),
    )


@pytest.mark.parametrize("text", ["", "gate: {}", "gate: {require: {}, max_broken: null, must_pass: []}"])
def test_by_default_nothing_is_asked_of_single_cases(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == CasePolicy()


def test_one_word_stands_for_a_list_of_one(tmp_path: Path) -> None:
    assert read(tmp_path, "gate: {must_pass: safety}").must_pass == ("safety",)


@pytest.mark.parametrize(
    ("text", "place", "message", "remedy"),
    [
        ("minimum: {acuracy: 0.9}", "gate.minimum.acuracy", "no least value can be asked of 'acuracy'", "accuracy?"),
        ("minimum: {error_rate: 0.1}", "gate.minimum.error_rate", "no least value", "Known: accuracy, overall"),
        ("minimum: {accuracy: 95}", "gate.minimum.accuracy", "expected at most 1", "accuracy: 0.95"),
        ("minimum: {accuracy: 0}", "gate.minimum.accuracy", "expected more than 0", "accuracy: 0.95"),
        ("max_broken: -1", "gate.max_broken", "expected at least 0", "max_broken: 0"),
        ("max_broken: 10 %", "gate.max_broken", "expected an integer", "max_broken: 0"),
        ("require: 0.8", "gate.require", "expected a mapping", "require: {pass_rate: 0.8}"),
        ("require: {pass_rat: 0.8}", "gate.require.pass_rat", "unknown key 'pass_rat'", "pass_rate?"),
        ("require: {pass_rate: 1}", "gate.require.pass_rate", "expected at most 0.99", "pass_rate: 0.8"),
        ("require: {pass_rate: 0.2}", "gate.require.pass_rate", "expected at least 0.5", "pass_rate: 0.8"),
        ("must_pas: [a]", "gate.must_pas", "unknown key 'must_pas'", "must_pass?"),
        ("must_pass: {a: b}", "gate.must_pass", "expected a list", "must_pass"),
        ("quarantine: [refund-17]", "gate.quarantine[0]", "expected a mapping", "case"),
        ("quarantine: [{case: a, until: 2026-12-31}]", "gate.quarantine[0].reason", "the key is missing", "reason"),
        ("quarantine: [{case: a, reason: b}]", "gate.quarantine[0].until", "the key is missing", "until: 2026-12-31"),
        (
            "quarantine: [{case: a, reason: b, until: 31.12.2026}]",
            "gate.quarantine[0].until",
            "expected a day, got '31.12.2026'",
            "as in 2026-12-31",
        ),
    ],
)
def test_a_mistake_names_its_place_and_the_remedy(
    tmp_path: Path, text: str, place: str, message: str, remedy: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path, f"gate:\n  {text}\n")
    assert f"{place}: " in str(caught.value)
    assert message in str(caught.value)
    assert remedy in str(caught.value)


def test_the_example_that_init_writes_holds_once_it_is_uncommented(tmp_path: Path) -> None:
    lines = WORKSPACE.split("\n")
    start = lines.index("#  # Facts about single cases, beside these tests. Each of them blocks:")
    written = [line[1:] if start <= place and line.startswith("#  ") else line for place, line in enumerate(lines)]
    found = read(tmp_path, "\n".join(written[lines.index("gate:") :]))
    assert (found.minimum, found.must_pass, found.max_broken) == ({"accuracy": 0.9}, ("sum", "quot*"), 0)
    assert (found.pass_rate, found.quarantine[0].case) == (0.8, "three-numbers")
