"""On which host something was measured, and which of it may be judged together.

Times of several hosts are never mixed in one verdict, so those of one count: the first host that measures a
comparison is its timing host. What another one measured of it (there were more cases than one machine could do, or
the first was lost) keeps its answer, its score, its tokens and its price; its times stay with the sample, in
``details``, and out of the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from agentdyno.model.metric import known_metric
from agentdyno.model.plan import Plan, Trial
from agentdyno.model.sample import ELSEWHERE, HOST, Sample


@dataclass(slots=True)
class TimingHosts:
    """Of a run: the timing host by comparison. ``comparison_of`` names that of an arm. A rule that stops nothing: it
    hears of the samples that a resumed run has already."""

    comparison_of: Callable[[str], str]
    first: str = ""
    """The host that counts for a comparison which nobody has measured yet, where one is to be preferred."""
    hosts: dict[str, str] = field(default_factory=dict)

    def marked(self, sample: Sample, host_id: str) -> Sample:
        """The sample with its host, and without readings that do not count."""
        counts = self.hosts.setdefault(self.comparison_of(sample.arm_id), self.first or host_id)
        details = {**sample.details, HOST: host_id}
        if counts == host_id:
            return replace(sample, details=details)
        moved = {name: value for name, value in sample.readings.items() if known_metric(name).machine_dependent}
        kept = {name: value for name, value in sample.readings.items() if name not in moved}
        return replace(sample, readings=kept, details={**details, ELSEWHERE: moved})

    def observed(self, arm_ids: Mapping[str, object]) -> dict[str, str]:
        """The timing host of each arm that has one."""
        return {arm: host for arm in arm_ids if (host := self.hosts.get(self.comparison_of(arm)))}

    def observe(self, sample: Sample) -> None:
        host = sample.details.get(HOST)
        if isinstance(host, str) and ELSEWHERE not in sample.details:
            self.hosts.setdefault(self.comparison_of(sample.arm_id), host)

    def skip(self, _trial: Trial) -> bool:
        return False

    def stop(self, _plan: Plan) -> str | None:
        return None
