"""Pictures of a load run: what they draw, and that they can be drawn of anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from agentdyno.findings.figures.histograms import histogram
from agentdyno.findings.run.charts import drawing
from agentdyno.findings.stress.charts import distribution_chart, knee_chart, over_time_chart, scaling_chart
from agentdyno.findings.stress.model import FittedLaw, ScenarioReport
from agentdyno.model.load import Histogram
from agentdyno.show.axes import inline_svg, png
from tests.stressed import stress_report

RISING, SPIKE, _ = stress_report("run-1").scenarios
CHARTS = (over_time_chart, knee_chart, distribution_chart, scaling_chart)
LAW = FittedLaw("usl", 25.0, 0.1, (0.05, 0.15), 0.01, None, 9.5, 0.99, ((1.0, 25.0), (2.0, 45.0), (4.0, 70.0)))


@pytest.fixture(autouse=True)
def _drawing() -> Iterator[None]:
    with drawing():
        yield


def line(axes: Axes, label: str) -> tuple[list[float], list[float]]:
    found = next(item for item in axes.lines if item.get_label() == label)
    return np.asarray(found.get_xdata()).tolist(), np.asarray(found.get_ydata()).tolist()


def texts(figure: Figure) -> list[str]:
    return [item.get_text() for axes in figure.axes for item in axes.texts]


def check(figure: Figure) -> None:
    """It can be drawn as both kinds of picture."""
    assert png(figure).startswith(b"\x89PNG")
    ElementTree.fromstring(inline_svg(figure, "key"))


def test_latency_over_time_has_a_gap_where_nothing_succeeded_and_names_its_phases() -> None:
    figure = over_time_chart(SPIKE)
    upper, lower = figure.axes
    assert upper.get_ylabel() == "latency (ms)"
    times, p50 = line(upper, "p50")
    assert times == [float(second) for second in range(30)]
    assert p50[0] == pytest.approx(20.0)
    assert p50[15] == pytest.approx(300.0)
    assert np.isnan(p50[29])
    assert line(lower, "asked")[1][15] == 1200.0
    assert line(lower, "done")[1][15] == 910.0
    assert texts(figure) == ["before", "spike", "after"]
    assert [patch.get_xy()[0] for patch in upper.patches] == [10.0], "every second phase is shaded"  # type: ignore[attr-defined]
    assert any(item.get_label() == "failed" for item in lower.collections)
    assert upper.get_yscale() == "log", "20 ms to 1.1 s is more than twentyfold"
    check(figure)


def test_a_run_without_failures_and_with_even_latency_is_drawn_plainly() -> None:
    calm = tuple(replace(point, error_rate=0.0, latency_p99_s=0.03) for point in SPIKE.over_time[:10])
    figure = over_time_chart(replace(SPIKE, over_time=calm, phases=SPIKE.phases[:1]))
    upper, lower = figure.axes
    assert not lower.collections
    assert upper.get_yscale() == "linear"
    assert texts(figure) == []
    check(figure)


def test_the_knee_is_drawn_by_level_with_the_breaking_point_and_its_interval() -> None:
    figure = knee_chart(RISING)
    (axes,) = figure.axes
    levels, p50 = line(axes, "p50")
    assert levels == [200.0, 400.0, 800.0, 850.0, 950.0, 1200.0]
    assert p50[0] == pytest.approx(20.0)
    assert line(axes, "p99")[1][0] == pytest.approx(80.0)
    assert texts(figure) == ["breaks at 900"]
    (span,) = axes.patches
    assert span.get_extents().intervalx == pytest.approx(axes.transData.transform([(850, 0), (950, 0)])[:, 0])
    assert axes.get_xlabel() == "requests a second"
    check(figure)


def test_a_scenario_that_did_not_break_has_no_mark() -> None:
    figure = knee_chart(replace(RISING, breaking_point=None))
    assert texts(figure) == []
    check(figure)


def test_distributions_are_those_of_the_stream_else_of_the_latency() -> None:
    times = histogram(np.array([10_000_000] * 30 + [20_000_000] * 10, dtype=np.int64))
    streamed = replace(SPIKE, distributions={"latency": times, "ttft": times, "itl": times})
    figure = distribution_chart(streamed)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["time to first token", "gap between chunks"]
    (axes, _) = figure.axes
    assert sum(bar.get_height() for bar in axes.patches) == 40  # type: ignore[attr-defined]
    assert axes.get_xlabel() == "ms"
    left = [bar.get_x() for bar in axes.patches if bar.get_height() == 30]  # type: ignore[attr-defined]
    assert left == [pytest.approx(10.0, rel=0.02)]
    check(figure)
    whole = distribution_chart(replace(SPIKE, distributions={"latency": times, "ttft": Histogram()}))
    assert [axes.get_title(loc="left") for axes in whole.axes] == ["latency"]
    check(whole)


def test_speed_up_is_drawn_against_the_ideal_and_the_fitted_law() -> None:
    figure = scaling_chart(replace(RISING, law=LAW))
    (axes,) = figure.axes
    assert line(axes, "measured") == ([1.0, 2.0, 4.0], [1.0, 1.8, 2.8])
    levels, ideal = line(axes, "ideal")
    assert ideal == levels
    # 4 / (1 + 0.1 * 3 + 0.01 * 4 * 3)
    assert line(axes, "usl")[1][-1] == pytest.approx(4 / 1.42)
    check(figure)


def test_what_is_unknown_is_said_in_the_picture() -> None:
    bare = replace(SPIKE, over_time=(), phases=(), curve=(), law=None, distributions={})
    said = {"no request succeeded", "no step had a success", "too few levels for a law"}
    for chart in CHARTS:
        figure = chart(bare)
        assert set(texts(figure)) <= said
        assert texts(figure)
        check(figure)


def silent(report: ScenarioReport) -> ScenarioReport:
    return replace(
        report,
        over_time=tuple(replace(point, latency_p50_s=None, latency_p99_s=None) for point in SPIKE.over_time),
        curve=tuple(replace(point, latency_p50_s=None, latency_p99_s=None) for point in RISING.curve),
    )


def one_of_each(report: ScenarioReport) -> ScenarioReport:
    times = histogram(np.array([5_000_000], dtype=np.int64))
    return replace(
        report,
        over_time=SPIKE.over_time[:1],
        curve=RISING.curve[:1],
        law=replace(LAW, points=((1.0, 25.0),)),
        distributions={"ttft": times},
    )


@pytest.mark.parametrize("change", [silent, one_of_each])
def test_runs_without_a_success_and_with_one_of_everything_can_be_drawn(change: object) -> None:
    assert callable(change)
    for chart in CHARTS:
        check(chart(change(RISING)))
