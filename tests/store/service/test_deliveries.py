"""Messages about alerts at rest: an alert is told to a place once, a message is in one sender's hands at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.errors import LeaseLost
from agentdyno.model.job import Delivery, DeliveryStatus
from agentdyno.store import Store

FIRST = Delivery("d1", "w", "team", 1000, 1000, {"title": "one"}, ("a", "b"))


def test_an_alert_is_claimed_by_one_message_to_a_place(store: Store) -> None:
    service = store.service
    assert service.add_delivery(FIRST)
    assert not service.add_delivery(replace(FIRST, delivery_id="d2", alert_ids=("b", "c")))
    assert service.told_of("w", "team", ["a", "b", "c"]) == {"a", "b"}, "what was claimed in vain is free again"
    assert service.add_delivery(replace(FIRST, delivery_id="d3", channel="other"))
    assert service.add_delivery(replace(FIRST, delivery_id="d4", workspace="elsewhere"))
    assert [item.delivery_id for item in service.deliveries()] == ["d4", "d3", "d1"]
    assert service.deliveries()[-1] == FIRST


def test_a_message_is_taken_when_it_is_due_by_who_knows_its_place(store: Store) -> None:
    service = store.service
    service.add_delivery(FIRST)
    assert service.take_delivery("w", ["team"], now_ms=999, lease_ms=10) is None
    assert service.take_delivery("w", ["other"], now_ms=1000, lease_ms=10) is None
    assert service.take_delivery("elsewhere", ["team"], now_ms=1000, lease_ms=10) is None
    held = service.take_delivery("w", ["team"], now_ms=1000, lease_ms=10)
    assert held == replace(FIRST, status=DeliveryStatus.SENDING, attempt=1, tries=1, lease_until=1010)
    assert service.take_delivery("w", ["team"], now_ms=1009, lease_ms=10) is None


def test_a_lease_that_ran_out_goes_to_another_and_fences_the_first(store: Store) -> None:
    service = store.service
    service.add_delivery(FIRST)
    lost = service.take_delivery("w", ["team"], now_ms=1000, lease_ms=10)
    held = service.take_delivery("w", ["team"], now_ms=1010, lease_ms=10)
    assert lost is not None
    assert held is not None
    with pytest.raises(LeaseLost, match="attempt 1 at message d1 is over"):
        service.end_delivery(lost, now_ms=1011)
    after = service.end_delivery(held, now_ms=1012)
    assert (after.status, after.finished_at, after.attempt) == (DeliveryStatus.SENT, 1012, 2)
    with pytest.raises(LeaseLost):
        service.end_delivery(held, now_ms=1013, error="no")


def test_a_message_waits_is_given_up_and_is_put_back_by_hand(store: Store) -> None:
    service = store.service
    service.add_delivery(FIRST)
    held = service.take_delivery("w", ["team"], now_ms=1000, lease_ms=10)
    assert held is not None
    waits = service.end_delivery(held, now_ms=1001, error="down", again_at=2000)
    assert (waits.status, waits.due_at, waits.error, waits.lease_until) == (*("waiting", 2000), *("down", None))
    again = service.take_delivery("w", ["team"], now_ms=2000, lease_ms=10)
    assert again is not None
    assert service.end_delivery(again, now_ms=2001, error="gone").status is DeliveryStatus.FAILED
    assert service.take_delivery("w", ["team"], now_ms=9999, lease_ms=10) is None
    assert service.retry_deliveries("w", ["other"], 3000) == 0
    assert service.retry_deliveries("w", ["team"], 3000) == 1
    third = service.take_delivery("w", ["team"], now_ms=3000, lease_ms=10)
    assert third is not None
    assert (third.tries, third.attempt, third.delivery_id) == (1, 3, "d1")
