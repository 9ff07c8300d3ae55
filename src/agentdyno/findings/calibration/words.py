"""A calibration in sentences."""

from __future__ import annotations

from agentdyno.findings.calibration.model import JudgeBias, JudgeCalibration

_STRENGTH = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"))
"""Landis and Koch (1977)."""


def kappa_words(found: JudgeCalibration) -> str:
    """``kappa 0.61 (95 %: 0.44 to 0.78), substantial``, or why there is none."""
    if found.kappa is None or found.kappa_interval is None:
        return "kappa cannot be said: people or judge gave one grade throughout"
    strength = next((word for floor, word in _STRENGTH if round(found.kappa, 2) >= floor), "worse than chance")
    low, high = found.kappa_interval
    return f"kappa {found.kappa:.2f} (95 %: {low:.2f} to {high:.2f}), {strength}"


def lead_words(found: JudgeCalibration) -> str:
    """The first sentence: who was held against whom, and how well they agree."""
    people = f"{len(found.people)} {'person' if len(found.people) == 1 else 'people'}"
    share = "" if found.agreement is None else f"agrees on {100 * found.agreement:.0f} %, "
    labelled = f"{found.labelled:,} of {found.answers:,} answers labelled by {people}"
    return f"{found.identity.judge}: {labelled}; {share}{kappa_words(found)}."


def bias_words(bias: JudgeBias) -> str:
    """What a bias comes to; why it is not known where it is not."""
    if bias.value is None or bias.interval is None:
        return f"not measured: {bias.reason}"
    value, low, high = (round(number, 3) + 0.0 for number in (bias.value, *bias.interval))  # no negative zero
    told = f"{value:+.3f} {bias.unit} (95 %: {low:+.3f} to {high:+.3f})"
    return f"{told}: found" if bias.found else f"{told}: not told from none"
