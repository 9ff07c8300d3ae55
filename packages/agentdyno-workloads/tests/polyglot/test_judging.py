"""Two languages side by side, from given figures."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno import Verdict
from agentdyno_workloads.polyglot.judging import Difference, LanguageRow, difference
from agentdyno_workloads.polyglot.published import PUBLISHED, printed_efficiency, tokens_per_s
from agentdyno_workloads.polyglot.words import sentence


def row(metric: str, verdict: Verdict | None, gap: Difference, client: Difference | None = None) -> LanguageRow:
    return LanguageRow("model", "endpoint=local", metric, 2.0, 1.5, 0.75, (0.7, 0.8), verdict, gap, client)


def test_a_difference_of_medians_has_an_interval_that_is_the_same_every_time() -> None:
    python, rust = [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]
    found = difference(python, rust)
    assert found == difference(python, rust)
    assert found.value == np.median(python) - np.median(rust) == 3.0
    assert 1.0 <= found.low <= 3.0 <= found.high <= 5.0
    assert found.told_apart
    assert not difference(python, python).told_apart


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            row("case_s", Verdict.BETTER, Difference(0.5, 0.4, 0.6), Difference(0.05, 0.04, 0.06)),
            "Rust is ahead in time of a case: Python less Rust is 500 [400, 600] ms. Without latency it is "
            "50 [40, 60] ms: 10% of it is the client's.",
        ),
        (
            row("case_s", Verdict.WORSE, Difference(-0.5, -0.6, -0.4), Difference(0.05, -0.04, 0.06)),
            "Python is ahead in time of a case: Python less Rust is -500 [-600, -400] ms. Without latency it is "
            "50 [-40, 60] ms: none of it can be shown to be the client's.",
        ),
        (
            row("ttft_s", Verdict.INCONCLUSIVE, Difference(0.1, -0.1, 0.3), Difference(0.02, 0.01, 0.03)),
            "In time to first token Python and Rust cannot be told apart (inconclusive): Python less Rust is "
            "100 [-100, 300] ms. The client's part, measured without latency, is 20 [10, 30] ms: 1.0% of the time.",
        ),
        (
            row("tokens_per_s", Verdict.INCONCLUSIVE, Difference(-9.0, -12.0, -6.0)),
            "Tokens a second is undecided after so few runs: Python less Rust is -9 [-12, -6] /s.",
        ),
        (
            row("peak_rss_bytes", Verdict.BETTER, Difference(2**20, 2**20, 2**21)),
            "Rust is ahead in peak memory: Python less Rust is 1 [1, 2] MiB. All of it is the client's.",
        ),
        (
            row("speedup", None, Difference(0.1, 0.0, 0.2)),
            "Speed-up is not judged, for want of runs: Python less Rust is 0.1 [0, 0.2].",
        ),
    ],
)
def test_a_row_says_whether_languages_can_be_told_apart_and_whose_the_difference_is(
    found: LanguageRow, said: str
) -> None:
    assert sentence(found) == said


def test_published_figures_rank_the_other_way_round_by_tokens_over_wall_time() -> None:
    assert printed_efficiency("tokio-default") > printed_efficiency("async-std")
    assert tokens_per_s("async-std") > tokens_per_s("tokio-default")
    assert (round(tokens_per_s("async-std"), 1), round(tokens_per_s("tokio-default"), 1)) == (94.0, 77.1)
    printed = round(printed_efficiency("async-std"), 1), round(printed_efficiency("tokio-default"), 1)
    assert printed == (50.0, 90.0), "as the report's own table has them"
    assert {name: len(runs) for name, runs in PUBLISHED.items()} == {"tokio-default": 30, "async-std": 30}
