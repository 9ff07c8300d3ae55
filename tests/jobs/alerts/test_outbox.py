"""Alerts on their way out: told once, sent at least once, tried again, given up."""

from __future__ import annotations

import pytest

from agentdyno.errors import LeaseLost, SpecError
from agentdyno.findings.change.ask import Changing
from agentdyno.jobs.alerts import outbox
from agentdyno.jobs.alerts.outbox import alert_channel, note_alerts, refusal, send_due, send_trial
from agentdyno.model import RunResult, Workspace
from agentdyno.model.job import Delivery, DeliveryStatus

from ...suites import Room
from ...workbench.answering import Answerer, ids, run
from .receiver import Receiver

SECRET = {"HOOK_SECRET": "0123456789abcdef"}


class Clock:
    """The outbox's, which moves when a test says so."""

    def __init__(self) -> None:
        self.now_ms = 1_800_000_000_000

    def pass_s(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(outbox, "_now_ms", lambda: made.now_ms)
    return made


def place(room: Room, receiver: Receiver, more: str = "") -> Workspace:
    return room.workspace(f"alerts: {{team: {{url: '{receiver.url}/hook', allow_private: true{more}}}}}")


def worse(room: Room) -> RunResult:
    """Version 1.1 is wrong in half of the cases that 1.0 was right in."""
    run(room, Answerer("bot", "1.0"), count=24)
    return run(room, Answerer("bot", "1.1", wrong=ids(0, 12)), count=24)


def only(room: Room) -> Delivery:
    (found,) = room.store.service.deliveries()
    return found


def test_a_regression_is_told_once_with_the_alerts_that_the_dashboard_shows(room: Room, receiver: Receiver) -> None:
    workspace = place(room, receiver, ", secret_env: HOOK_SECRET")
    result = worse(room)
    assert note_alerts(room.store, workspace, [result]) == 1
    assert note_alerts(room.store, workspace, [result]) == 0, "whoever goes on after a kill asks again"
    (sent,) = send_due(room.store, workspace, SECRET, 9)
    assert (sent.status, sent.tries, sent.error) == (DeliveryStatus.SENT, 1, "")
    (got,) = receiver.got
    alerts = Changing(room.store, workspace=workspace.name, policy=workspace.gate).alerts()
    assert {item["alert_id"] for item in got.document["alerts"]} == {alert.alert_id for alert in alerts}
    assert (got.path, got.document["agent"], got.document["version"]) == ("/hook", "bot", "1.1")
    assert got.headers["idempotency-key"] == got.headers["webhook-id"] == sent.delivery_id
    assert got.headers["webhook-signature"].startswith("v1,")
    assert send_due(room.store, workspace, SECRET, 9) == []


def test_nothing_is_told_of_agents_that_did_not_run_or_of_what_was_acknowledged(
    room: Room, receiver: Receiver
) -> None:
    workspace = place(room, receiver)
    result = worse(room)
    lone = run(room, Answerer("lone"), count=4)
    assert note_alerts(room.store, workspace, [lone]) == 0
    for alert in Changing(room.store).alerts():
        room.store.service.acknowledge(alert.alert_id, "ada", "known", 1)
    assert note_alerts(room.store, workspace, [result]) == 0
    assert note_alerts(room.store, Workspace(), [result]) == 0, "there is no place"


def test_a_message_that_is_not_taken_waits_longer_each_time_under_the_same_key(
    room: Room, receiver: Receiver, clock: Clock
) -> None:
    workspace = place(room, receiver)
    note_alerts(room.store, workspace, [worse(room)])
    receiver.answers = [503, 500]
    (first,) = send_due(room.store, workspace, {}, 9)
    assert (first.status, first.error, first.due_at - clock.now_ms) == (
        DeliveryStatus.WAITING,
        "answered 503",
        10_000,
    )
    assert send_due(room.store, workspace, {}, 9) == [], "it is not due"
    clock.pass_s(10)
    (second,) = send_due(room.store, workspace, {}, 9)
    assert second.due_at - clock.now_ms == 20_000
    clock.pass_s(20)
    (third,) = send_due(room.store, workspace, {}, 9)
    assert (third.status, third.error) == (DeliveryStatus.SENT, "")
    assert len({got.headers["idempotency-key"] for got in receiver.got}) == 1


def test_a_receiver_may_ask_for_a_longer_pause_of_at_most_an_hour(
    room: Room, receiver: Receiver, clock: Clock
) -> None:
    workspace = place(room, receiver)
    note_alerts(room.store, workspace, [worse(room)])
    receiver.answers, receiver.extra = [429, 429], {"Retry-After": "120"}
    (first,) = send_due(room.store, workspace, {}, 9)
    assert first.due_at - clock.now_ms == 120_000
    clock.pass_s(120)
    receiver.extra = {"Retry-After": "999999"}
    (second,) = send_due(room.store, workspace, {}, 9)
    assert second.due_at - clock.now_ms == 3_600_000


def test_it_is_given_up_after_max_tries_and_can_be_sent_again_by_hand(
    room: Room, receiver: Receiver, clock: Clock
) -> None:
    workspace = place(room, receiver, ", max_tries: 2")
    note_alerts(room.store, workspace, [worse(room)])
    receiver.answers = [503, 503]
    send_due(room.store, workspace, {}, 9)
    clock.pass_s(10)
    (after,) = send_due(room.store, workspace, {}, 9)
    assert (after.status, after.tries) == (DeliveryStatus.FAILED, 2)
    clock.pass_s(100_000)
    assert send_due(room.store, workspace, {}, 9) == []
    assert room.store.service.retry_deliveries(workspace.name, ["team"], clock.now_ms) == 1
    (again,) = send_due(room.store, workspace, {}, 9)
    assert again.status is DeliveryStatus.SENT


@pytest.mark.parametrize(("status", "words"), [(404, "answered 404"), (302, "redirects are not followed")])
def test_a_refusal_that_would_be_the_same_the_next_time_ends_it_at_once(
    status: int, words: str, room: Room, receiver: Receiver
) -> None:
    workspace = place(room, receiver)
    note_alerts(room.store, workspace, [worse(room)])
    receiver.answers = [status]
    (after,) = send_due(room.store, workspace, {}, 9)
    assert after.status is DeliveryStatus.FAILED
    assert words in after.error


def test_a_private_address_ends_it_and_a_variable_that_is_not_set_waits_for_it(
    room: Room, receiver: Receiver, clock: Clock
) -> None:
    workspace = room.workspace(f"alerts: {{a: {{url: '{receiver.url}'}}, b: {{url_env: HOOK, allow_private: true}}}}")
    assert note_alerts(room.store, workspace, [worse(room)]) == 2
    after = {item.channel: item for item in send_due(room.store, workspace, {}, 9)}
    assert after["a"].status is DeliveryStatus.FAILED
    assert "127.0.0.1 is not an address of the public internet" in after["a"].error
    assert after["b"].status is DeliveryStatus.WAITING
    assert after["b"].error == "the environment variable HOOK is not set"
    assert receiver.got == []
    clock.pass_s(10)
    (sent,) = send_due(room.store, workspace, {"HOOK": receiver.url}, 9)
    assert (sent.channel, sent.status) == ("b", DeliveryStatus.SENT)


def test_a_sender_that_is_lost_leaves_the_message_to_another_and_can_write_nothing_any_more(
    room: Room, receiver: Receiver, clock: Clock
) -> None:
    workspace = place(room, receiver)
    note_alerts(room.store, workspace, [worse(room)])
    service = room.store.service
    held = service.take_delivery(workspace.name, ["team"], now_ms=clock.now_ms, lease_ms=1000)
    assert held is not None
    assert send_due(room.store, workspace, {}, 9) == [], "it is in somebody's hands"
    clock.pass_s(1)
    (sent,) = send_due(room.store, workspace, {}, 9)
    assert (sent.status, sent.attempt, sent.delivery_id) == (DeliveryStatus.SENT, 2, held.delivery_id)
    with pytest.raises(LeaseLost, match="attempt 1 at message"):
        service.end_delivery(held, now_ms=clock.now_ms, error="late")
    assert only(room).status is DeliveryStatus.SENT


def test_a_trial_says_that_it_is_one_and_leaves_nothing_in_the_store(room: Room, receiver: Receiver) -> None:
    workspace = place(room, receiver)
    answer = send_trial(alert_channel(workspace, "team"), workspace.name, {}, "")
    assert (answer.status, refusal(answer)) == (200, "")
    assert receiver.got[0].document["event"] == "test"
    assert "A trial of agentdyno's alerts to team" in receiver.got[0].document["title"]
    assert room.store.service.deliveries() == []


def test_a_place_that_is_not_there_is_an_error_with_the_nearest(room: Room, receiver: Receiver) -> None:
    with pytest.raises(SpecError, match="Did you mean team") as refused:
        alert_channel(place(room, receiver), "taem")
    assert "no place 'taem' under alerts" in str(refused.value)
    with pytest.raises(SpecError, match="Add one under"):
        alert_channel(Workspace(), "team")
