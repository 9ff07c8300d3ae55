"""``@pytest.mark.dyno(suite=...)``: what a person who runs pytest sees."""

from __future__ import annotations

from pathlib import Path

import numpy.fft
import numpy.random
import pytest
import scipy.special
import scipy.stats

import agentdyno.pytest_plugin.session
from agentdyno.store import Store

pytest_plugins = ["pytester"]

LOADED = (numpy.fft, numpy.random, scipy.special, scipy.stats, agentdyno.pytest_plugin.session)
"""A session of pytest inside of this one forgets the modules that it loads; these cannot be loaded twice."""
SUITE = """
name: capitals
dataset:
  cases:
    - {id: fr, input: France, target: Paris}
    - {id: de, input: Germany, target: Berlin, metadata: {tags: [hard]}}
    - {id: it, input: Italy, target: Rome}
scorer: exact
warmup: 0
"""
AGENT = """
def answer(text):
    with open("calls.log", "a") as log:
        log.write(text + "\\n")
    return {"France": "Paris", "Germany": "Berlin"}.get(text, "?")

def perfect(text):
    return {"France": "Paris", "Germany": "Berlin", "Italy": "Rome"}[text]
"""
MARKED = """
import pytest

@pytest.mark.dyno(suite="suite.yaml", agent="agent.py@answer", epochs=2)
def test_capitals():
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("DYNO_STORE", raising=False)
    pytester.path.joinpath("suite.yaml").write_text(SUITE)
    pytester.path.joinpath("agent.py").write_text(AGENT)
    pytester.makepyfile(test_capitals=MARKED)
    return pytester


def calls(project: pytest.Pytester) -> list[str]:
    log = project.path / "calls.log"
    return log.read_text().split() if log.exists() else []


def runs(folder: Path) -> list[tuple[str, str]]:
    with Store.open(folder / ".dyno" / "dyno.db", must_exist=True) as store:
        return [(row.name, row.status.value) for row in store.runs.newest(20)]


def test_every_case_is_a_test_and_a_wrong_answer_fails_with_want_and_got(project: pytest.Pytester) -> None:
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(
        ["it: right in 0 of 2 tries", "*want  Rome", "*got   ?", "capitals: 6 calls*; dyno show *"]
    )
    assert len(calls(project)) == 6
    assert runs(project.path) == [("capitals", "complete")]


def test_a_published_version_with_other_contents_fails_until_it_is_allowed(project: pytest.Pytester) -> None:
    suite = project.path / "suite.yaml"
    suite.write_text(SUITE + 'version: "1"\n')
    project.runpytest_inprocess("-p", "no:xdist", "-k", "fr or de or it").assert_outcomes(passed=2, failed=1)
    suite.write_text(SUITE.replace("target: Rome", "target: '?'") + 'version: "1"\n')
    refused = project.runpytest_inprocess("-p", "no:xdist")
    refused.stdout.fnmatch_lines(["*version 1 of capitals was run with other contents before*"])
    assert refused.ret == pytest.ExitCode.TESTS_FAILED
    assert len(calls(project)) == 6, "nothing was asked"
    project.makepyfile(test_capitals=MARKED.replace("epochs=2", "epochs=2, allow_changed_suite=True"))
    project.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=3)


def test_only_selected_cases_are_put_to_the_agent(project: pytest.Pytester) -> None:
    project.runpytest_inprocess("-p", "no:xdist", "-k", "fr or de").assert_outcomes(passed=2, deselected=1)
    assert sorted(calls(project)) == ["France"] * 2 + ["Germany"] * 2


def test_the_rules_of_dyno_yaml_decide(project: pytest.Pytester) -> None:
    project.path.joinpath("dyno.yaml").write_text("gate: {minimum: {accuracy: 0.6}, must_pass: [fr]}\n")
    done = project.runpytest_inprocess("-p", "no:xdist", "-rx")
    done.assert_outcomes(passed=3, xfailed=1)
    done.stdout.fnmatch_lines(["XFAIL*it*the rules of gate allow it: right in 0 of 2 tries"])


def test_a_threshold_that_is_missed_fails_what_is_wrong_and_the_test_of_the_gate(project: pytest.Pytester) -> None:
    project.path.joinpath("dyno.yaml").write_text("gate: {minimum: {accuracy: 0.9}}\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*minimum accuracy: accuracy is 0.667, at least 0.9 is asked for"])


def test_a_case_that_must_pass_fails_and_others_may(project: pytest.Pytester) -> None:
    project.path.joinpath("dyno.yaml").write_text("gate: {must_pass: [it]}\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["it: must_pass: right in 0 of 2 tries"])


def test_a_quarantined_case_is_an_expected_failure(project: pytest.Pytester) -> None:
    held = "{case: it, reason: moving offices, until: 2999-01-01}"
    project.path.joinpath("dyno.yaml").write_text(f"gate: {{quarantine: [{held}]}}\n")
    project.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=2, xfailed=1)


def test_the_body_sees_what_became_of_its_case(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_capitals="""
        import pytest
        from agent import perfect

        @pytest.mark.dyno(suite="suite.yaml", agent=perfect, epochs=3, cases=["fr", "it"])
        def test_answers(dyno_case):
            assert (dyno_case.passed, dyno_case.tries) == (3, 3)
            assert dyno_case.answers == [dyno_case.target] * 3
            assert len(dyno_case.samples) == 3 and dyno_case.input in ("France", "Italy")
            assert dyno_case.case_id != "it"
        """
    )
    project.syspathinsert()
    project.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=1, failed=1)


def test_functions_of_a_closure_and_several_agents_can_be_asked(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_capitals="""
        import pytest

        def upper(known):
            def look_up(text):
                return known[text]
            return look_up

        known = {"France": "Paris", "Germany": "Berlin", "Italy": "Rome"}

        @pytest.mark.dyno(suite="suite.yaml", agent=[upper(known), "agent.py@answer"], epochs=1)
        def test_both():
            pass
        """
    )
    done = project.runpytest_inprocess("-p", "no:xdist", "-v")
    done.assert_outcomes(passed=5, failed=1)
    done.stdout.fnmatch_lines(["*test_both[[]look_up-it[]] PASSED*", "*test_both[[]answer-it[]] FAILED*"])


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ('suite="suit.yaml"', "*suit.yaml*"),
        ('suite="suite.yaml", agent="agent.py@answer", epoch=2', "*no option 'epoch'*"),
        ('suite="suite.yaml", agent=7', "*an agent is a name, a reference or a function, not int*"),
        ('suite="suite.yaml", agent="agent.py@answer", max_cost="much"', "*max_cost is a number of dollars*"),
        ('"suite.yaml", agent="agent.py@answer"', '*Say suite="suite.yaml"*'),
        ('agent="agent.py@answer", epochs=2', "*agent goes with a suite, and none is named*"),
        ("epochs=2", "*epochs goes with a suite, and none is named*"),
        ('siute="suite.yaml"', "*no option 'siute'*"),
    ],
)
def test_a_mistake_in_a_mark_is_told_before_anything_runs(project: pytest.Pytester, mark: str, told: str) -> None:
    project.makepyfile(test_capitals=f"import pytest\n@pytest.mark.dyno({mark})\ndef test_x(): pass\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([told])
    assert calls(project) == []


def test_a_bare_mark_is_a_word_to_select_tests_by(project: pytest.Pytester) -> None:
    project.makepyfile(test_capitals="import pytest\n@pytest.mark.dyno\ndef test_x(): pass\n")
    project.runpytest_inprocess("-p", "no:xdist", "-m", "dyno").assert_outcomes(passed=1)


def test_the_fixture_of_a_case_needs_a_mark(project: pytest.Pytester) -> None:
    project.makepyfile(test_capitals="def test_x(dyno_case): pass\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*dyno_case is for tests that are marked*"])


def test_an_agent_that_cannot_be_found_is_an_error_of_every_case(project: pytest.Pytester) -> None:
    mark = 'suite="suite.yaml", agent="agent.py@answr"'
    project.makepyfile(test_capitals=f"import pytest\n@pytest.mark.dyno({mark})\ndef test_x(): pass\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(errors=3)
    done.stdout.fnmatch_lines(["agent.py: no agent called 'answr'", "*Did you mean answer?"])


def test_an_agent_without_a_price_needs_a_limit(project: pytest.Pytester) -> None:
    mark = 'suite="suite.yaml", agent="openai:my-own-model"'
    project.makepyfile(test_capitals=f"import pytest\n@pytest.mark.dyno({mark})\ndef test_x(): pass\n")
    done = project.runpytest_inprocess("-p", "no:xdist", "-k", "fr")
    done.stdout.fnmatch_lines(["*price of my-own-model* is unknown", "*max_cost=5 in the mark*"])


KILLED = """
import os, signal, sqlite3, time
from pathlib import Path

def stored():
    with sqlite3.connect(Path(".dyno/dyno.db").resolve()) as store:
        return store.execute("select count(*) from samples").fetchone()[0]

def answer(text):
    with open("calls.log", "a") as log:
        log.write(text + "\\n")
    if len(Path("calls.log").read_text().split()) == 4:
        while stored() < 3:
            time.sleep(0.01)
        os.kill(int(Path("pid").read_text()), signal.SIGKILL)
        time.sleep(60)
    return {"France": "Paris", "Germany": "Berlin"}.get(text, "?")
"""


def test_after_kill_9_a_second_pytest_calls_only_what_is_missing(project: pytest.Pytester) -> None:
    project.path.joinpath("agent.py").write_text(KILLED)
    project.makeconftest("import os, pathlib; pathlib.Path('pid').write_text(str(os.getpid()))")
    assert project.runpytest_subprocess("-p", "no:xdist").ret == -9
    assert len(calls(project)) == 4  # three answers are stored, the fourth was under way
    done = project.runpytest_subprocess("-p", "no:xdist")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["capitals: 6 calls* (resumed); dyno show *"])
    assert len(calls(project)) == 4 + 3
    assert runs(project.path) == [("capitals", "complete")]
    project.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=2, failed=1)
    assert len(calls(project)) == 7 + 6  # a run that is complete is not taken up again


def test_several_processes_of_xdist_make_one_run(project: pytest.Pytester) -> None:
    done = project.runpytest_subprocess("-n", "4")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["capitals: 6 calls*; dyno show *"])
    assert len(calls(project)) == 6
    assert runs(project.path) == [("capitals", "complete")]


def in_git(project: pytest.Pytester, *arguments: str) -> None:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    assert project.run("git", *who, *arguments).ret == 0


def test_against_a_revision_only_what_is_worse_fails(project: pytest.Pytester) -> None:
    rows = [f"    - {{id: c{n}, input: c{n}, target: right}}" for n in range(12)]
    project.path.joinpath("suite.yaml").write_text(
        "name: twelve\nscorer: exact\nwarmup: 0\ndataset:\n  cases:\n" + "\n".join(rows)
    )
    agent = project.path / "agent.py"
    agent.write_text("def answer(text):\n    return 'wrong' if text == 'c0' else 'right'\n")
    in_git(project, "init", "-q", "-b", "main")
    in_git(project, "add", "agent.py", "suite.yaml")
    in_git(project, "commit", "-q", "-m", "first")
    against = ("-p", "no:xdist", "--dyno-against", "main", "-rxs")

    same = project.runpytest_inprocess(*against)
    same.assert_outcomes(skipped=13)
    same.stdout.fnmatch_lines(["*nothing has changed since main*"])

    agent.write_text("def answer(text):\n    return 'wrong' if text == 'c1' else 'right'  # another mistake\n")
    other = project.runpytest_inprocess(*against)
    other.assert_outcomes(passed=12, xfailed=1)

    agent.write_text("def answer(text):\n    return 'wrong'\n")
    worse = project.runpytest_inprocess(*against)
    worse.assert_outcomes(failed=12, xfailed=1)  # eleven that were right, and the gate
    worse.stdout.fnmatch_lines(["*test_capitals[[]gate[]]*", "*accuracy*"])
