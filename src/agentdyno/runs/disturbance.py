"""Samples that were being timed while the bench itself stood still: their times are no measurement, and say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentdyno.model import Sample
from agentdyno.model.metric import REPORTED_PREFIX, known_metric, reported_name
from agentdyno.model.sample import DISTURBED, HOST
from agentdyno.workers.pauses import PauseWatch
from agentdyno.workers.reference import READING

_OF_TIME = ("s", "/s")
_KEPT = frozenset({"cpu_s", "user_s", "system_s", "server.cpu_s"})
"""CPU time stands still with whoever uses it."""


def disturbed(sample: Sample, pauses: PauseWatch) -> Sample:
    """The sample; where the bench stood still in it, with its times in the details, out of the figures. Where the
    subject alone was stopped, its times stay, and the sample says so.

    What another machine measured is not touched by a pause of this one. Windows of a load are counted by processes of
    their own, which go on: they are marked, and keep their figures.
    """
    window = sample.details.get("window")
    if isinstance(window, Mapping):
        return _marked_window(sample, window, pauses)
    duration_s = sample.readings.get("duration_s")
    if duration_s is None or HOST in sample.details:
        return sample
    began_s = sample.started_at_ms / 1000
    lasted_s = duration_s * sample.inner_loops
    paused_s = pauses.seconds_between(began_s, began_s + lasted_s)
    if not paused_s or paused_s < PAUSED_SHARE * lasted_s:  # a command no longer than its shell lasted 0 s
        stopped_s = pauses.stopped_between(began_s, began_s + lasted_s)
        if stopped_s < max(STOPPED_S, PAUSED_SHARE * lasted_s):
            return sample
        return replace(sample, details={**sample.details, DISTURBED: {"stopped_s": stopped_s}})
    moved = {name: value for name, value in sample.readings.items() if _tells_time(name)}
    kept = {name: value for name, value in sample.readings.items() if name not in moved}
    kept.pop(reported_name("duration_s"), None)  # the clock outside went on, and so cannot tell what is true
    details = {**sample.details, DISTURBED: {"paused_s": paused_s, "readings": moved}}
    return replace(sample, readings=kept, details=details)


def _marked_window(sample: Sample, window: Mapping[str, object], pauses: PauseWatch) -> Sample:
    lasted_s = window.get("duration_s")
    if not isinstance(lasted_s, (int, float)):
        return sample
    began_s = sample.started_at_ms / 1000
    paused_s = pauses.seconds_between(began_s, began_s + lasted_s)
    if paused_s < PAUSED_SHARE * lasted_s:
        return sample
    return replace(sample, details={**sample.details, DISTURBED: {"paused_s": paused_s}})


STOPPED_S = 0.2
"""A process that was seen stopped for less may have been seen between two things."""
PAUSED_SHARE = 0.01
"""A pause that is a smaller part of a call than this changes nothing that could be told from noise."""


def _tells_time(name: str) -> bool:
    ours = name.startswith((READING, REPORTED_PREFIX))
    return not ours and name not in _KEPT and known_metric(name).unit in _OF_TIME
