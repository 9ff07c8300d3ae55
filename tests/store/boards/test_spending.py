"""What was spent on which day, by agent and by the model that answered."""

from __future__ import annotations

from agentdyno.store import Execution, Store
from agentdyno.store.rows import SpendRow

from ..suite_builders import DAY_MS, MONDAY, SUITE


def test_sums_are_by_day_and_agent_and_say_of_how_many_executions_they_are_known(store: Store) -> None:
    day = MONDAY // DAY_MS * DAY_MS
    store.boards.add_suite(SUITE, now_ms=day)
    rows = [
        Execution("a", "1", SUITE.digest, "sums", day + 1, cost_usd=1.0, tokens_used=10),
        Execution("a", "2", SUITE.digest, "sums", day + 2, cost_usd=0.5),
        Execution("a", "2", SUITE.digest, "sums", day + 3),
        Execution("b", "1", SUITE.digest, "sums", day + DAY_MS, cost_usd=2.0, tokens_used=7),
        Execution("b", "1", SUITE.digest, "sums", day + DAY_MS, cost_usd=9.0, simulated=True),
        Execution("b", "1", SUITE.digest, "sums", day - 1, cost_usd=9.0),
    ]
    store.boards.add_executions(rows)
    assert store.boards.spending(day) == [
        SpendRow(day, "a", "", 3, 2, 1.5, 1, 10),
        SpendRow(day + DAY_MS, "b", "", 1, 1, 2.0, 1, 7),
    ]
