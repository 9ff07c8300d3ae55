"""What a notebook shows of a result: a line, a table and a picture, without any library."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from agentdyno.model import ArmResult, RunResult
from agentdyno.model.metric import format_value
from agentdyno.model.naming import with_shown_arms

MOST_ARMS = 30
"""Arms that are shown; a frame has them all."""
_WIDTH, _LEFT, _ROW = 640, 190, 22
_STYLE = "color:currentColor;background:transparent"


@dataclass(frozen=True, slots=True)
class _Whisker:
    name: str
    value: float
    low: float | None
    high: float | None


def html_of(result: RunResult) -> str:
    """One line, one row an arm, and a dot with its 95 % interval for each."""
    result = with_shown_arms(result)
    shown = result.arms[:MOST_ARMS]
    more = len(result.arms) - len(shown)
    table = _table(result, shown) + (f"<p>and {more} more: .to_frame('arms')</p>" if more else "")
    return f"<div><p><b>{escape(headline(result))}</b></p>{table}{_picture(result, shown)}</div>"


def headline(result: RunResult) -> str:
    """``capitals: complete, 2 arms, 30 samples; run 019ca9c1-…``."""
    samples = sum(arm.samples_total for arm in result.arms)
    stopped = f" ({result.stopped_because})" if result.stopped_because else ""
    arms = f"{len(result.arms)} arm{'s' * (len(result.arms) != 1)}"
    return f"{result.name}: {result.status.value}{stopped}, {arms}, {samples:,} samples; run {result.run_id[:13]}"


def _table(result: RunResult, arms: tuple[ArmResult, ...]) -> str:
    suite = result.suite is not None
    names = (
        ("agent", "benchmark", "passed", "accuracy", "time", "cost") if suite else ("arm", "time", "CPU", "samples")
    )
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(arm, suite))}</tr>" for arm in arms)
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><tr>{head}</tr>{rows}</table>"


def _cells(arm: ArmResult, suite: bool) -> list[str]:
    if not suite:
        return [escape(arm.name), _figure(arm, "duration_s"), _figure(arm, "cpu_s"), f"{arm.samples_total:,}"]
    passed, accuracy, cost = arm.case_figures, arm.scores.get("accuracy"), arm.totals.get("cost_usd")
    return [
        escape(arm.agent or arm.name),
        escape(arm.benchmark or ""),
        "–" if passed is None else f"{passed.passed} of {passed.samples}",
        "–" if accuracy is None else f"{accuracy:.2f}{_muted(_interval(arm))}",
        _figure(arm, "duration_s"),
        "–" if cost is None else format_value(cost, "usd"),
    ]


def _interval(arm: ArmResult) -> str:
    if arm.spread is None or "accuracy" not in arm.spread.low:
        return ""
    return f"{arm.spread.low['accuracy']:.2f}–{arm.spread.high['accuracy']:.2f}"


def _figure(arm: ArmResult, name: str) -> str:
    figure = arm.metrics.get(name)
    if figure is None:
        return "–"
    within = "" if figure.ci is None else "–".join(format_value(end, figure.unit) for end in figure.ci)
    return f"{format_value(figure.median, figure.unit)}{_muted(within)}"


def _muted(text: str) -> str:
    return f' <small style="opacity:.6">{escape(text)}</small>' if text else ""


def _whiskers(result: RunResult, arms: tuple[ArmResult, ...]) -> list[_Whisker]:
    found = []
    several = len({arm.benchmark for arm in arms}) > 1
    for arm in arms:
        if result.suite is not None:
            accuracy, spread = arm.scores.get("accuracy"), arm.spread
            low, high = (spread.low.get("accuracy"), spread.high.get("accuracy")) if spread else (None, None)
            if accuracy is not None:
                found.append(_Whisker(arm.name if several else arm.agent or arm.name, accuracy, low, high))
        elif (figure := arm.metrics.get("duration_s")) is not None and figure.median is not None:
            found.append(_Whisker(arm.name, figure.median, *(figure.ci or (None, None))))
    return found


def _picture(result: RunResult, arms: tuple[ArmResult, ...]) -> str:
    whiskers = _whiskers(result, arms)
    if not whiskers:
        return ""
    suite = result.suite is not None
    most = 1.0 if suite else max(max(item.value, item.high or 0.0) for item in whiskers) or 1.0
    scale = (_WIDTH - _LEFT - 70) / most
    lines = [_line(place, item, scale, "" if suite else "s") for place, item in enumerate(whiskers)]
    height = _ROW * len(whiskers) + 4
    title = "accuracy, 0 to 1" if suite else "time per call, from 0"
    return (
        f'<svg width="{_WIDTH}" height="{height}" role="img" style="{_STYLE}"><title>{title}, with 95 % intervals'
        f"</title>{''.join(lines)}</svg><br><small>{title}</small>"
    )


def _line(place: int, item: _Whisker, scale: float, unit: str) -> str:
    y, x = _ROW * place + _ROW / 2, _LEFT + item.value * scale
    whisker = ""
    if item.low is not None and item.high is not None:
        first, last = (_LEFT + end * scale for end in (item.low, item.high))
        whisker = f'<line x1="{first:.1f}" x2="{last:.1f}" y1="{y}" y2="{y}" stroke="#5b8def" stroke-width="3"/>'
    told = format_value(item.value, unit) if unit else f"{item.value:.2f}"
    name = item.name if len(item.name) <= 28 else f"{item.name[:27]}…"
    text = f'<text x="{_WIDTH - 62}" y="{y + 4}" fill="currentColor" font-size="12">{escape(told)}</text>'
    return (
        f'<text x="0" y="{y + 4}" fill="currentColor" font-size="12">{escape(name)}</text>{whisker}'
        f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="#1f4fbf"/>{text}'
    )
