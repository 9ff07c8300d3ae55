"""Which station does which trial, without a station."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model import Phase, Trial
from agentdyno.runner.farm.assignments import MOST_LOSSES, Assignments


def trial(arm: str, case: int) -> Trial:
    return Trial(arm, Phase.MEASURED, 0, f"c{case}")


def by_case(item: Trial) -> str:
    return item.case_id


def test_all_arms_of_a_block_go_to_one_station_even_when_they_come_apart() -> None:
    assigned = Assignments(by_case, 1)
    assigned.join("one")
    assigned.join("two")
    assigned.submit(trial("a", 1))
    assert [item.arm_id for item in assigned.take("one")] == ["a"]
    assigned.submit(trial("b", 1))
    assert assigned.take("two") == []
    assert [item.arm_id for item in assigned.take("one")] == ["b"]


def test_groups_are_divided_before_anybody_has_two() -> None:
    assigned = Assignments(by_case, 1)
    for name in ("one", "two"):
        assigned.join(name)
    for case in (1, 2):
        assigned.submit(trial("a", case))
    assert [item.case_id for item in assigned.take("one", ahead=False)] == ["c1"]
    assert [item.case_id for item in assigned.take("two", ahead=False)] == ["c2"]


def test_what_a_lost_station_says_later_does_not_count() -> None:
    assigned = Assignments(by_case, 1)
    assigned.join("one")
    item = trial("a", 1)
    assigned.submit(item)
    assigned.take("one")
    assigned.lose("one")
    assigned.join("two")
    assert assigned.take("two") == [item]
    assert assigned.has("one", item.key) is None
    assert assigned.has("two", item.key) == item


def test_a_trial_that_kills_every_machine_is_given_up() -> None:
    assigned, item = Assignments(by_case, 1), trial("a", 1)
    assigned.submit(item)
    given_up: list[Trial] = []
    for number in range(MOST_LOSSES):
        assert not given_up
        assigned.join(f"s{number}")
        assigned.take(f"s{number}")
        given_up = assigned.lose(f"s{number}")
    assert given_up == [item]


def test_fast_trials_are_sent_many_at_a_time_and_slow_ones_one_ahead() -> None:
    assigned = Assignments(by_case, 2)
    assigned.join("one")
    assert assigned.window == 3
    for number in range(40):
        assigned.submit(trial("a", number))
    for item in assigned.take("one"):
        assigned.ended("one", item.key, 0.0)
    assert assigned.window > 30
    for item in assigned.take("one"):
        assigned.ended("one", item.key, 5.0)
    assert assigned.window == 3


@given(st.lists(st.sampled_from(["join", "lose", "take", "end", "submit"]), max_size=200))
def test_whatever_joins_and_is_lost_every_trial_ends_exactly_once(acts: list[str]) -> None:
    assigned = Assignments(by_case, 2)
    submitted: list[Trial] = []
    doing: dict[str, list[Trial]] = {}
    ended: Counter[str] = Counter()
    joined = 0

    def end(name: str) -> None:
        item = doing[name].pop(0)
        assigned.ended(name, item.key, 0.1)
        ended[item.key] += 1

    for act in [*acts, "join"]:
        stations = assigned.stations
        if act == "submit":
            submitted.append(trial("ab"[len(submitted) % 2], len(submitted) // 2))
            assigned.submit(submitted[-1])
        elif act == "join":
            joined += 1
            assigned.join(f"s{joined}")
            doing[f"s{joined}"] = []
        elif not stations:
            continue
        elif act == "lose":
            doing.pop(stations[0])
            for item in assigned.lose(stations[0]):
                ended[item.key] += 1
        elif act == "take":
            doing[stations[-1]] += assigned.take(stations[-1])
        elif doing[stations[-1]]:
            end(stations[-1])
    while sum(ended.values()) < len(submitted):
        for name in assigned.stations:
            doing[name] += assigned.take(name)
            while doing[name]:
                end(name)
    assert ended == Counter(item.key for item in submitted)
