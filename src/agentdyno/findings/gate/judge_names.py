"""Which cases the words of a policy stand for: ids, tags, patterns of either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from agentdyno.findings.standing.model import HeldCase
from agentdyno.model.case import Case, CaseKey
from agentdyno.model.policy import CasePolicy, Quarantine
from agentdyno.model.record import AgentRecord
from agentdyno.model.suite import Suite

TAGS = "tags"
"""The key of a case's metadata that holds its tags: a text, or a list of texts."""


@dataclass(frozen=True, slots=True)
class AskedCase:
    """A case of a suite and its tags."""

    key: CaseKey
    tags: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that a policy can call it by."""
        return (self.key.case_id, f"{self.key.benchmark}/{self.key.case_id}", *self.tags)


@dataclass(frozen=True, slots=True)
class NamedCases:
    """What the words of a policy stand for in one suite, on one day. ``expired`` quarantines hold no case."""

    must_pass: frozenset[CaseKey] = frozenset()
    quarantined: Mapping[CaseKey, Quarantine] = field(default_factory=dict)
    expired: tuple[Quarantine, ...] = ()

    def without_quarantined(self, record: AgentRecord) -> AgentRecord:
        if not self.quarantined:
            return record
        return replace(record, cases=tuple(case for case in record.cases if case.key not in self.quarantined))


def asked_cases(suite: Suite) -> list[AskedCase]:
    """Every case of a suite."""
    return [
        AskedCase(CaseKey(item.benchmark_id, case.id), tags_of(case))
        for item in suite.benchmarks
        for case in item.cases
    ]


def tags_of(case: Case) -> tuple[str, ...]:
    """The tags in a case's metadata."""
    found = case.metadata.get(TAGS, ())
    return (found,) if isinstance(found, str) else tuple(map(str, found)) if isinstance(found, (list, tuple)) else ()


def held_cases(policy: CasePolicy, suite: Suite, today: str) -> tuple[HeldCase, ...]:
    """The quarantined cases of a suite with their reasons."""
    found = name_cases(policy, asked_cases(suite), today).quarantined if policy.quarantine else {}
    return tuple(HeldCase(key, f"quarantined until {item.until}: {item.reason}") for key, item in found.items())


def words_of(policy: CasePolicy) -> list[tuple[str, str]]:
    """The words of a policy that stand for cases, each with its dotted place below ``gate``."""
    listed = [(f"must_pass[{place}]", word) for place, word in enumerate(policy.must_pass)]
    return listed + [(f"quarantine[{place}].case", item.case) for place, item in enumerate(policy.quarantine)]


def stands_for(word: str, case: AskedCase) -> bool:
    """Whether a word names the case: as it is, or as a pattern with ``*``, ``?`` and ``[…]``."""
    return any(name == word or fnmatchcase(name, word) for name in case.names)


def name_cases(policy: CasePolicy, cases: Sequence[AskedCase], today: str) -> NamedCases:
    """What the policy's words stand for among ``cases``. ``today`` is an ISO date; a quarantine still holds on its
    last day."""
    quarantined: dict[CaseKey, Quarantine] = {}
    expired: list[Quarantine] = []
    for item in policy.quarantine:
        own = [case.key for case in cases if stands_for(item.case, case)]
        if own and item.until < today:
            expired.append(item)
        elif own:
            quarantined |= {key: item for key in own if key not in quarantined}
    must = {case.key for case in cases if any(stands_for(word, case) for word in policy.must_pass)}
    return NamedCases(frozenset(must), quarantined, tuple(expired))
