"""The clock, as an instrument that a spec may name."""

from __future__ import annotations

from agentdyno.contracts import Instrument


class Timing(Instrument):
    """Wall and CPU time per call (always on, whether named or not).

    The clock reads ``duration_s`` and ``cpu_s`` for every sample; naming this instrument adds nothing.
    """

    name = "timing"
    perturbs = False
