from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from agentdyno.findings.cost.charts import cost_scatter
from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.cost.model import CostReport
from agentdyno.findings.reliability.charts import pass_curve
from agentdyno.findings.reliability.judge import reliabilities
from agentdyno.findings.run.charts import drawing
from agentdyno.findings.standing.charts_spread import spread_chart
from agentdyno.model.record import AgentRecord
from agentdyno.show.axes import inline_svg, png

from ..findings.economy_builders import agent_record, cases, tried


@pytest.fixture(autouse=True)
def _drawing() -> Iterator[None]:
    with drawing():
        yield


def agents(costs: Sequence[float | None], **fields: object) -> list[AgentRecord]:
    """The dearer the more accurate and the faster; one case more right each."""
    return [
        agent_record(
            f"agent-{place}@1",
            cases([1] * (4 + place) + [0] * (16 - place), tries=1, cost=cost, duration=3.0 / (place + 1)),
            **fields,
        )
        for place, cost in enumerate(costs)
    ]


def report(costs: Sequence[float | None] = (0.01, 0.02, 0.03)) -> CostReport:
    return cost_report(agents(costs))


def texts(figure: Figure) -> list[str]:
    return [item.get_text() for item in figure.axes[0].texts]


def check(figure: Figure) -> None:
    """It can be drawn as both kinds of picture."""
    assert png(figure).startswith(b"\x89PNG")
    ElementTree.fromstring(inline_svg(figure, "key"))


@pytest.mark.parametrize("axis", ["accuracy", "latency"])
def test_the_scatter_names_every_agent_and_draws_the_frontier(axis: str) -> None:
    figure = cost_scatter(report(), axis)  # type: ignore[arg-type]
    assert texts(figure) == ["agent-0", "agent-1", "agent-2"]
    axes = figure.axes[0]
    line = next(item for item in axes.lines if str(item.get_label()).startswith("frontier"))
    assert np.asarray(line.get_xdata()).tolist() == pytest.approx([0.01, 0.02, 0.03])
    assert axes.get_xscale() == "linear"
    check(figure)


def test_costs_that_differ_twentyfold_get_a_logarithmic_axis_and_free_agents_a_place_on_it() -> None:
    assert cost_scatter(report((0.01, 0.05, 0.2))).axes[0].get_xscale() == "linear"
    axes = cost_scatter(report((0.01, 0.05, 0.21))).axes[0]
    assert axes.get_xscale() == "log"
    figure = cost_scatter(report((0.0, 0.01, 0.21)))
    figure.draw_without_rendering()
    labels = [item.get_text() for item in figure.axes[0].get_xticklabels()]
    assert labels[0] == "free"
    assert all(label.startswith("$") for label in labels[1:])
    check(figure)


def test_agents_whose_cost_is_unknown_are_left_out_and_none_at_all_is_said() -> None:
    assert texts(cost_scatter(report((0.01, None, 0.03)))) == ["agent-0", "agent-2"]
    nothing = cost_scatter(report((None,)))
    assert texts(nothing) == ["no agent whose cost and accuracy are known"]
    check(nothing)


@pytest.mark.parametrize("costs", [(0.0,), (0.0, 0.0), (0.01,), (0.01, 0.01, 0.01)])
def test_free_single_and_equal_agents_can_be_drawn(costs: tuple[float, ...]) -> None:
    for axis in ("accuracy", "latency"):
        check(cost_scatter(report(costs), axis))


def test_names_of_agents_that_stand_close_do_not_cover_each_other() -> None:
    figure = cost_scatter(report([0.01 + 0.0004 * place for place in range(9)]))
    figure.draw_without_rendering()
    labels = [item for item in figure.axes[0].texts if isinstance(item, Annotation)]
    boxes = [item.get_window_extent() for item in labels]
    assert len(boxes) == 9
    for first, second in combinations(boxes, 2):
        width = min(first.x1, second.x1) - max(first.x0, second.x0)
        height = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert width <= 1 or height <= 1


def test_simulated_agents_are_triangles_and_dominated_ones_hollow() -> None:
    made_up = cost_report(agents((0.01, 0.02), simulated=True))
    assert {item.get_marker() for item in cost_scatter(made_up).axes[0].lines if item.get_marker() != "None"} == {"^"}
    worse = cost_report(
        [agent_record("good@1", cases([1] * 6, cost=0.01)), agent_record("bad@1", cases([0] * 6, cost=0.02))]
    )
    styles = [item.get_fillstyle() for item in cost_scatter(worse).axes[0].lines if item.get_marker() == "o"]
    assert styles == ["full", "none"]


def test_pass_curves_fall_with_k_and_have_bands_for_few_agents() -> None:
    records = [agent_record(f"agent-{place}@1", cases([4, 3, 2, 4, place], tries=4, cost=0.01)) for place in range(3)]
    figure = pass_curve(reliabilities(records))
    axes = figure.axes[0]
    assert len(axes.lines) == 3
    for line in axes.lines:
        ys = np.asarray(line.get_ydata()).tolist()
        assert len(ys) == 4
        assert all(later <= earlier for earlier, later in pairwise(ys))
    assert len(axes.collections) == 3
    check(figure)
    many = pass_curve(reliabilities([*records, *records]))
    assert len(many.axes[0].collections) == 0
    check(many)


def test_pass_curves_of_one_try_and_of_nothing_can_be_drawn() -> None:
    check(pass_curve(reliabilities([agent_record("a@1", cases([1, 0, 1]))])))
    empty = pass_curve([])
    assert texts(empty) == ["no case was tried"]
    check(empty)


def test_distributions_show_every_agent_that_has_the_metric() -> None:
    records = agents((0.01, 0.02, None))
    figure = spread_chart(records, "cost_usd")
    labels = [item.get_text() for item in figure.axes[0].get_yticklabels()]
    assert labels == ["agent-0", "agent-1"]
    assert figure.axes[0].get_xlabel() == "cost per execution ($)"
    for metric in ("duration_s", "score", "total_tokens"):
        check(spread_chart(records, metric))
    assert texts(spread_chart(records, "total_tokens")) == ["not known of any case: tokens per execution"]


def test_a_free_agent_does_not_squeeze_the_costs_of_the_others() -> None:
    spread = [tried(f"c{place}", cost=0.001 * 3**place) for place in range(8)]
    figure = spread_chart(
        [agent_record("paid@1", spread), agent_record("free@1", cases([1] * 8, cost=0.0))], "cost_usd"
    )
    assert figure.axes[0].get_xscale() == "log"
    assert texts(figure) == ["always 0"]
    check(figure)


def test_the_same_report_gives_the_same_picture() -> None:
    assert png(cost_scatter(report())) == png(cost_scatter(report()))


def test_names_are_never_read_as_formulas_or_markup() -> None:
    hostile = "<b>$x_1$ 漢字 " + "long" * 30 + "@1"
    records = [agent_record(hostile, cases([2, 1], tries=2)), agent_record("b@1", cases([1, 1], tries=2))]
    check(cost_scatter(cost_report(records)))
    check(pass_curve(reliabilities(records)))
    check(spread_chart(records, "duration_s"))
