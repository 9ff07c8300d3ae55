from __future__ import annotations

from dataclasses import replace

from agentdyno.store import BaselineRow, Store

FIRST = BaselineRow(
    "quick", "daily-work", "1.4.0", "01900000-0000-7000-8000-000000000001", 1_700_000_000_000, "ö\x00"
)


def test_a_baseline_comes_back_as_it_was_set(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.boards.set_baseline(FIRST)
    with Store.open(store_url, must_exist=True) as store:
        assert store.boards.baselines() == [FIRST]


def test_a_later_baseline_takes_the_place_of_the_one_before(store: Store) -> None:
    store.boards.set_baseline(FIRST)
    later = BaselineRow("quick", "daily-work", "1.5.0", set_at=FIRST.set_at + 1)
    store.boards.set_baseline(later)
    assert store.boards.baselines() == [later]


def test_agents_suites_and_workspaces_have_their_own(store: Store) -> None:
    rows = [
        FIRST,
        replace(FIRST, suite_id="other"),
        replace(FIRST, agent="slow@home"),
        replace(FIRST, workspace="team"),
    ]
    for row in reversed(rows):
        store.boards.set_baseline(row)
    assert store.boards.baselines() == rows
    assert store.boards.baselines("team") == rows[3:]
    assert store.boards.baselines("nobody") == []


def test_clearing_says_how_many_there_were(store: Store) -> None:
    others = [replace(FIRST, agent="slow"), replace(FIRST, workspace="team")]
    for row in (FIRST, replace(FIRST, suite_id="other"), replace(FIRST, suite_id="third"), *others):
        store.boards.set_baseline(row)
    assert store.boards.clear_baseline("quick", "daily-work") == 1
    assert store.boards.clear_baseline("quick", "daily-work") == 0
    assert store.boards.clear_baseline("quick") == 2
    assert store.boards.baselines() == others
    assert store.boards.clear_baseline("quick", None, "team") == 1


def test_baselines_are_synced_to_the_disk(store: Store) -> None:
    seen: list[bool] = []
    set_durable, delimit = store.session.backend.set_durable, store.session.backend.delimit

    def watch(connection: object, sql: str) -> None:
        if sql == "COMMIT":
            seen.append(bool(levels) and levels[-1])
        delimit(connection, sql)  # type: ignore[arg-type]

    levels: list[bool] = []

    def note(connection: object, durable: bool) -> None:
        levels.append(durable)
        set_durable(connection, durable)  # type: ignore[arg-type]

    store.session.backend.set_durable = note  # type: ignore[method-assign]
    store.session.backend.delimit = watch  # type: ignore[method-assign]
    store.boards.set_baseline(FIRST)
    store.boards.clear_baseline("quick")
    assert seen == [True, True]
