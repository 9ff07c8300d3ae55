from __future__ import annotations

import pytest
from scipy import stats as scipy_stats

from agentdyno.findings.reliability.judge import origins, reliability_of
from agentdyno.findings.reliability.model import Perturbed
from agentdyno.model.case import CaseKey
from agentdyno.model.record import CaseRecord

from ..economy_builders import agent_record, tried


def perturbed(*own: CaseRecord) -> Perturbed | None:
    return reliability_of(agent_record("solver@1", own)).perturbed


def form(case_id: str, of: str, passed: int, tries: int = 1, **fields: object) -> CaseRecord:
    return tried(case_id, passed, tries, perturbs=of, **fields)  # type: ignore[arg-type]


def test_pairs_are_counted_by_hand() -> None:
    found = perturbed(
        tried("a", 1),
        tried("b", 1),
        tried("c", 0),
        tried("d", 2, 4),  # 0.5 is right at a threshold of 0.5
        form("a2", "a", 1),
        form("b2", "b", 0),
        form("c2", "c", 1),
        form("d2", "d", 1, 4),
    )
    assert found is not None
    assert (found.pairs, found.original, found.perturbed) == (4, 0.625, 0.5625)
    assert found.agreement == 0.25
    assert found.change == pytest.approx(-0.0625)
    assert found.broken == ("b2", "d2")
    expected = scipy_stats.t.interval(
        0.95, 3, loc=-0.0625, scale=scipy_stats.sem([0.0, -1.0, 1.0, -0.25])
    )  # one form each: Student's
    assert found.interval == pytest.approx((max(-1.0, expected[0]), min(1.0, expected[1])))


def test_forms_of_one_original_are_not_independent() -> None:
    own = []
    for number in range(6):
        own.append(tried(f"o{number}", 1))
        own += [form(f"o{number}-{k}", f"o{number}", int(number > 1)) for k in range(5)]
    found = perturbed(*own)
    assert found is not None
    assert (found.pairs, len(found.broken)) == (30, 10)
    assert found.change == pytest.approx(-1 / 3)
    assert found.interval is not None
    # Six clusters of five equal changes: Student's of the six.
    expected = scipy_stats.t.interval(0.95, 5, loc=-1 / 3, scale=scipy_stats.sem([-1, -1, 0, 0, 0, 0]))
    assert found.interval == pytest.approx(expected)


def test_no_change_in_any_pair_is_no_proof_of_none() -> None:
    own = [case for number in range(4) for case in (tried(f"o{number}"), form(f"f{number}", f"o{number}", 1))]
    found = perturbed(*own)
    assert found is not None
    assert (found.agreement, found.change) == (1.0, 0.0)
    assert found.interval == pytest.approx((-0.4899, 0.4899), abs=1e-4)  # Wilson's bound of 0 in 4


def test_one_original_gives_no_interval() -> None:
    found = perturbed(tried("a"), form("a2", "a", 1), form("a3", "a", 0))
    assert found is not None
    assert (found.pairs, found.interval) == (2, None)


def test_forms_without_an_original_or_without_a_score_do_not_count() -> None:
    assert perturbed(tried("a"), form("x", "gone", 1)) is None
    assert perturbed(tried("a", score=None), form("a2", "a", 1)) is None
    assert perturbed(tried("a"), form("a2", "a", 1, score=None)) is None
    assert perturbed(tried("a", benchmark="other"), form("a2", "a", 1)) is None
    assert perturbed(tried("a")) is None


def test_forms_of_forms_lead_to_the_first_and_circles_end() -> None:
    own = [tried("a"), form("b", "a", 1), form("c", "b", 0), form("x", "y", 1), form("y", "x", 1), form("z", "z", 1)]
    found = origins(own)
    assert found[CaseKey("facts", "c")].case_id == "a"
    assert found[CaseKey("facts", "a")].case_id == "a"
    assert {found[CaseKey("facts", name)].case_id for name in "xy"} == {"x", "y"}
    assert found[CaseKey("facts", "z")].case_id == "z"
    assert perturbed(*own) is not None


def test_forms_of_one_question_are_drawn_together_in_the_intervals_of_reliability() -> None:
    own = [tried("a", 1), *(form(f"a{k}", "a", 1) for k in range(9)), tried("b", 0), form("b1", "b", 0)]
    estimate = reliability_of(agent_record("solver@1", own)).pass_hat[0][1]
    assert estimate.interval == (0.0, 1.0)  # two independent questions, one always right and one never
