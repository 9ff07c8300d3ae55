"""``dyno alerts`` and ``--alert``, as a user types them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ...command import Bench
from ...jobs.alerts.receiver import Receiver, receiving

AGENT = "def answer(text):\n    return text.upper()\n"
WORSE = "def answer(text):\n    return 'no'\n"
SUITE = "name: Tiny\nepochs: 1\nwarmup: 0\nretries: 0\nscorer: exact\ndataset:\n  cases:\n" + "".join(
    f"    - {{id: c{i}, input: w{i}, target: W{i}}}\n" for i in range(24)
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def write(bench: Bench, alerts: str) -> None:
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    bench.write("dyno.yaml", f"agents: {{mine: agent.py@answer}}\nsuites: [suite.yaml]\n{alerts}")


def test_a_trial_a_regression_a_receiver_that_is_down_and_sending_again(
    loaded_bench: Bench, receiver: Receiver
) -> None:
    bench = loaded_bench
    write(bench, f"alerts: {{team: {{url: '{receiver.url}/hook', allow_private: true}}}}\n")
    tried = bench.dyno("alerts", "test", "team")
    assert "team took the trial (it answered 200)." in tried.err
    assert receiver.got[0].document["event"] == "test"
    first = bench.dyno("run", "--agent", "mine", "--alert")
    assert "Alerts: nothing new." in first.err
    bench.write("agent.py", WORSE)
    receiver.answers = [503]
    second = bench.dyno("run", "--agent", "mine", "--alert")
    assert second.code == 0, "that a place is down is no failure of the run"
    assert "Alert to team did not arrive, it waits for `dyno alerts send`: answered 503" in second.err
    (waits,) = bench.dyno("alerts", "list", "--json").json
    assert (waits["status"], waits["tries"]) == ("waiting", 1)
    again = bench.dyno("alerts", "send")
    assert again.code == 0
    assert "is worse on tiny" in again.err
    assert receiver.got[-1].headers["idempotency-key"] == waits["delivery_id"]
    assert "sent" in bench.dyno("alerts", "list").out
    assert "No message waits." in bench.dyno("alerts", "send").err


def test_an_agent_that_is_called_otherwise_than_its_name_has_alerts_too(
    loaded_bench: Bench, receiver: Receiver
) -> None:
    """Two files have a function of one name: boards tell them apart by their files."""
    bench = loaded_bench
    write(bench, f"alerts: {{team: {{url: '{receiver.url}/hook', allow_private: true}}}}\n")
    bench.write("other.py", AGENT)
    for name in ("other.py@answer", "agent.py@answer"):
        assert "Alerts: nothing new." in bench.dyno("run", "suite.yaml", "--agent", name, "--alert").err
    bench.write("agent.py", WORSE)
    told = bench.dyno("run", "suite.yaml", "--agent", "agent.py@answer", "--alert").err
    assert "Alert to team: agent.answer@" in told, told
    assert receiver.got[-1].document["agent"] == "agent.answer"


def test_alerts_that_can_go_nowhere_are_an_error_before_anything_is_measured(loaded_bench: Bench) -> None:
    bench = loaded_bench
    write(bench, "")
    refused = bench.dyno("run", "--agent", "mine", "--alert")
    assert refused.code == 2
    assert "there is no place to send alerts to" in refused.err
    assert "alerts: {team:" in refused.err
    assert "there is no place" in bench.dyno("check", "--alert").err
    assert not (bench.folder / ".dyno").exists()


def test_a_trial_that_is_not_taken_says_why(loaded_bench: Bench, receiver: Receiver) -> None:
    bench = loaded_bench
    write(bench, f"alerts: {{inside: {{url: '{receiver.url}'}}, keyed: {{url_env: DYNO_NOT_SET}}}}\n")
    refused = bench.dyno("alerts", "test", "inside")
    assert refused.code == 2
    assert "is not an address of the public internet" in refused.err
    assert "DYNO_NOT_SET is not set" in bench.dyno("alerts", "test", "keyed").err
    assert "Did you mean inside?" in bench.dyno("alerts", "test", "insde").err
