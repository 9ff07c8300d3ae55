"""The sentence of each finding, with its numbers."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.model.findings import BandFinding
from agentdyno.model.metric import format_value

_WORDS = {
    ("latency_p95", "real time"): "95 % of answers take at most {value}, below {limit}: fit for real-time use.",
    (
        "latency_p95",
        "not real time",
    ): "The slowest 5 % of answers take {value} or more; real time asks for {limit}.",
    ("latency_p99", "short tail"): "The slowest 1 % of answers take {value} or more, below the red flag at {limit}.",
    (
        "latency_p99",
        "long tail",
    ): "The slowest 1 % of answers take {value} or more, above {limit}: too long a wait.",
    ("throughput", "enough"): "{value} is above {limit}: enough for production.",
    ("throughput", "low"): "{value} is not above {limit}, which production asks for.",
    ("memory", "fits"): "At most {value} of memory, below {limit}: a training fits one GPU.",
    ("memory", "large"): "{value} of memory at its peak; one GPU asks for less than {limit}.",
    ("memory_growth", "steady"): "Memory grew by {value} over the samples, below {limit}: no sign of a leak.",
    ("memory_growth", "growing"): "Memory grew by {value} over the samples: it leaks, or keeps what it need not.",
    ("gpu_utilisation", "busy"): "The GPU was {value} in use, above {limit}.",
    ("gpu_utilisation", "partly idle"): "The GPU was {value} in use, above the red flag at {limit}.",
    (
        "gpu_utilisation",
        "idle",
    ): "The GPU was {value} in use, below {limit}: something holds it up, often the CPU.",
    ("stability", "excellent"): "Values vary by {value}, below {limit}: excellent.",
    ("stability", "good"): "Values vary by {value}, below {limit}: good.",
    ("stability", "moderate"): "Values vary by {value}, below {limit}: moderate.",
    ("stability", "poor"): "Values vary by {value}, above {limit}: unstable, so that small differences mean nothing.",
    ("convergence", "outstanding"): "80 % of the reward after {value} episodes, below {limit}: outstanding.",
    ("convergence", "excellent"): "80 % of the reward after {value} episodes, below {limit}: excellent.",
    ("convergence", "good"): "80 % of the reward after {value} episodes, below {limit}: good.",
    ("convergence", "slow"): "80 % of the reward after {value} episodes; good is below {limit}.",
    (
        "convergence",
        "not reached",
    ): "Not half of the trainings reached 80 % of the reward; good is below {limit}.",
    ("ttft", "excellent"): "The first token comes after {value}, below {limit}: excellent.",
    ("ttft", "good"): "The first token comes after {value}, below {limit}: good.",
    ("ttft", "slow"): "The first token comes after {value}; good is below {limit}.",
    ("speedup", "excellent"): "{value} times as fast as one after the other, above {limit}: excellent.",
    ("speedup", "typical"): "{value} times as fast as one after the other, above {limit}: typical.",
    ("speedup", "low"): "{value} times as fast as one after the other, not above {limit}: agents hold each other up.",
    ("efficiency", "excellent"): "{value} of the possible speed-up, above {limit}: excellent.",
    ("efficiency", "typical"): "{value} of the possible speed-up, above {limit}: typical.",
    ("efficiency", "low"): "{value} of the possible speed-up, not above {limit}: agents hold each other up.",
    ("contention", "acceptable"): "{value} of the agents were held up, below {limit}: acceptable.",
    ("contention", "noticeable"): "{value} of the agents were held up, below {limit}: noticeable.",
    ("contention", "problematic"): "{value} of the agents were held up, above {limit}: a problem.",
}
_SHARES = ("memory_growth", "gpu_utilisation", "stability", "efficiency", "contention")
_TITLES = {
    "latency_p95": "latency p95",
    "latency_p99": "latency p99",
    "memory_growth": "growth of memory",
    "gpu_utilisation": "GPU in use",
    "stability": "stability (CV)",
    "convergence": "convergence",
    "ttft": "first token",
    "speedup": "speed-up",
}


def sentence(finding: BandFinding, *, simulated: bool) -> BandFinding:
    """The finding with what there is to say about it."""
    text = _WORDS[finding.band, finding.label].format(
        value=shown(finding, finding.value), limit=shown(finding, finding.threshold)
    )
    return replace(finding, sentence=f"{text} Simulated." if simulated else text)


def shown(finding: BandFinding, value: float | None) -> str:
    """A value or a limit of a finding with its unit; shares in per cent."""
    if finding.band in _SHARES and value is not None:
        return f"{100 * value:.3g} %"
    return format_value(value, finding.unit)


def band_title(band: str) -> str:
    """What a band is about, in a table."""
    return _TITLES.get(band, band)
