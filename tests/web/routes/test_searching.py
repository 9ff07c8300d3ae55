"""Everything by a part of its name, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from agentdyno.model import Arm
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import Seeded, check_documented, client_of


def found(client: object, text: str) -> list[tuple[str, str]]:
    from .asking import Client

    assert isinstance(client, Client)
    answer = client.ok("/api/search", text=text)
    check_documented(client, "get", "/api/search", answer)
    return [(item["kind"], item["name"]) for item in answer["items"]]


def test_agents_runs_and_cases_are_found_whatever_their_letters(seeded: Seeded) -> None:
    assert ("agent", "steady") in found(seeded.client, "STEAD")
    assert ("agent", "steady") in found(seeded.client, "steady@2")
    assert ("run", "odd") in found(seeded.client, "Odd")
    assert ("case", "c00") in found(seeded.client, "C00")
    assert found(seeded.client, "  ") == []
    assert found(seeded.client, "no such thing") == []


def test_a_run_is_found_by_the_beginning_of_its_id(seeded: Seeded) -> None:
    items = seeded.client.ok("/api/search", text=seeded.first)["items"]
    assert [item["run_id"] for item in items] == [seeded.first]


def test_signs_of_patterns_are_letters_like_others(room: Room) -> None:
    run(room, Answerer("a"))
    client = client_of(room)
    for text in ("%", "_", "\\", "'", '"'):
        assert found(client, text) == []
    client.app.state.services.close()


def test_tags_are_found_once(room: Room) -> None:
    done = run(room, Answerer("a"))
    for number, tags in enumerate((("Release-1", "x"), ("Release-1",), ("release-2",)), start=1):
        header = replace(done, run_id=str(UUID(int=number)), tags=tags)
        room.store.runs.begin(header, [Arm("arm", "arm", "x")], {"arm": 1})
    client = client_of(room)
    assert sorted(found(client, "RELEASE")) == [("tag", "Release-1"), ("tag", "release-2")]
    client.app.state.services.close()


def test_what_is_called_so_is_found_before_what_only_holds_it(room: Room) -> None:
    """Enter opens the first."""
    for name in ("a desk", "desk-2", "desk"):
        run(room, Answerer(name))
    client = client_of(room)
    assert [name for kind, name in found(client, "desk") if kind == "agent"] == ["desk", "desk-2", "a desk"]
    client.app.state.services.close()
