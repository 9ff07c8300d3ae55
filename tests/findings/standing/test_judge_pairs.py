"""Three and more agents: every pair that was judged, by name."""

from __future__ import annotations

from agentdyno.contracts import Report
from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.findings.run.ask import findings_for
from agentdyno.findings.standing.model import SuiteFindings
from agentdyno.model import RunResult, Verdict
from agentdyno.reports import render_console

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result


def run_of(**bits: str) -> RunResult:
    cases = [f"c{i}" for i in range(len(next(iter(bits.values()))))]
    arms = [
        arm(f"{name}@1", "facts", [sample(f"c{i}", float(bit)) for i, bit in enumerate(own)])
        for name, own in bits.items()
    ]
    return close_suite(suite_result(suite_of(benchmark(*cases)), *arms))


def pairs_of(run: RunResult) -> list[tuple[str, str, Verdict]]:
    found = findings_for(run, None)
    assert isinstance(found, SuiteFindings)
    return [(pair.baseline, pair.candidate, pair.verdict) for pair in found.pairs]


def test_the_first_is_held_against_every_other() -> None:
    run = run_of(half="10" * 20, good="1" * 40, near="1" * 39 + "0")
    assert pairs_of(run) == [
        ("near@1", "good@1", Verdict.INCONCLUSIVE),
        ("half@1", "good@1", Verdict.BETTER),
    ]


def test_two_agents_have_their_head_to_head_alone() -> None:
    assert pairs_of(run_of(good="1" * 40, bad="0" * 40)) == []


def test_many_pairs_are_corrected_together() -> None:
    """Six cases of 40 decide one pair (p = 0.031 of a sign test), and not one of five."""
    good, worse = "1" * 40, "1" * 34 + "0" * 6
    one = findings_for(run_of(good=good, a=worse, b=good), None)
    many = findings_for(run_of(good=good, **dict.fromkeys("abcde", worse)), None)
    assert isinstance(one, SuiteFindings)
    assert isinstance(many, SuiteFindings)
    smallest = min(pair.adjusted_p or 1.0 for pair in one.pairs)
    assert all((pair.adjusted_p or 1.0) > smallest for pair in many.pairs)
    assert {pair.verdict for pair in many.pairs} == {Verdict.INCONCLUSIVE}


def test_the_console_names_the_pairs() -> None:
    run = run_of(half="10" * 20, good="1" * 40, bad="0" * 40)
    shown = render_console(Report((run,), findings_for(run, None)), 100)
    assert "Pairs that were judged" in shown
    assert "half → good" in shown
    assert "bad → good" in shown


def test_a_pair_has_one_verdict_wherever_the_screen_tells_it() -> None:
    """Six of 40 cases decide a pair by itself, and not one of five: nowhere is it called better then."""
    good, worse = "1" * 40, "1" * 34 + "0" * 6
    run = run_of(good=good, **dict.fromkeys("abcde", worse))
    found = findings_for(run, None)
    assert isinstance(found, SuiteFindings)
    own = found.standings[0].head_to_head
    assert own is not None
    assert (own.candidate, own.verdict, own.family) == ("good@1", Verdict.INCONCLUSIVE, 5)
    for shown in (render_console(Report((run,), found), 100, brief=brief) for brief in (True, False)):
        assert "better" not in shown
        assert "not decided between a and good" in shown or "? inconclusive: accuracy 85 → 100" in shown


def test_two_versions_have_the_verdict_of_their_pair_when_the_older_one_is_first() -> None:
    """The table of pairs holds the first against the others, the head-to-head the older version against the newer."""
    good, worse = "1" * 40, "1" * 34 + "0" * 6
    cases = [f"c{i}" for i in range(40)]
    bits = {"x@1": good, "x@2": worse, **{f"{name}@1": worse for name in "abcd"}}
    arms = [
        arm(name, "facts", [sample(case, float(bit)) for case, bit in zip(cases, own, strict=True)])
        for name, own in bits.items()
    ]
    found = findings_for(close_suite(suite_result(suite_of(benchmark(*cases)), *arms)), None)
    assert isinstance(found, SuiteFindings)
    own = found.standings[0].head_to_head
    assert own is not None
    assert (own.baseline, own.candidate, own.verdict) == ("x@1", "x@2", Verdict.INCONCLUSIVE)
    pair = next(item for item in found.pairs if item.baseline == "x@2")
    assert (own.adjusted_p, own.family) == (pair.adjusted_p, pair.family)
