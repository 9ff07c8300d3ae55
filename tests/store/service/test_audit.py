from __future__ import annotations

from dataclasses import replace

from agentdyno.model.job import AuditEntry
from agentdyno.store import Store

from ..job_builders import NOW

FIRST = AuditEntry(NOW, "ci", "run", "job-1", {"agent": "quick", "odd": "\x00ö", "n": [1, None]})


def test_an_entry_comes_back_as_it_was_with_a_number(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.service.add_audit(FIRST)
    with Store.open(store_url, must_exist=True) as store:
        (kept,) = store.service.audit()
    assert kept.number is not None
    assert replace(kept, number=None) == FIRST


def test_entries_are_listed_newest_first_in_pages_that_stay_what_they_are(store: Store) -> None:
    """All at the same moment: the order is that of writing."""
    for number in range(10):
        store.service.add_audit(replace(FIRST, subject=str(number), details={}))
    seen: list[str] = []
    before: int | None = None
    while page := store.service.audit(3, before):
        seen += [entry.subject for entry in page]
        before = page[-1].number
        store.service.add_audit(replace(FIRST, subject="new"))
    assert seen == [str(number) for number in reversed(range(10))]


def test_alerts_are_acknowledged_once_and_can_be_taken_back(store_url: str) -> None:
    with Store.open(store_url) as store:
        assert store.service.acknowledgements() == {}
        store.service.acknowledge("b", "ana", "known \x00", NOW)
        store.service.acknowledge("a", "local", "", NOW + 1)
    with Store.open(store_url, must_exist=True) as store:
        assert store.service.acknowledgements() == {"a": ("local", NOW + 1, ""), "b": ("ana", NOW, "known \x00")}
        store.service.acknowledge("b", "ben", "mine", NOW + 2)
        assert store.service.acknowledgements()["b"] == ("ben", NOW + 2, "mine")
        assert store.service.unacknowledge("b") is True
        assert store.service.unacknowledge("b") is False
        assert list(store.service.acknowledgements()) == ["a"]
