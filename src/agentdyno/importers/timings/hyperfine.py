"""Files of hyperfine (``--export-json FILE``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentdyno.importers.content import outline, typed
from agentdyno.importers.document import ImportedDocument, Node, read_document
from agentdyno.importers.timings.assemble import ImportedArm, Machine, TimingSeries, assemble, measured
from agentdyno.model import RunResult, RunWarning, Sample, Status

_CLOSE = 1e-6


class HyperfineImporter:
    """Commands timed by hyperfine; what exits with an error counts as hyperfine counts it, and is marked."""

    name = "hyperfine"
    description = "hyperfine --export-json files"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return {"results[].command", "results[].mean", "results[].user"} <= outline(head)

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [assemble(_found(document), document)]


def _found(document: ImportedDocument) -> ImportedArm:
    results = document.root.at("results").elements()
    series = [_series(node) for node in results]
    return ImportedArm(
        "hyperfine",
        "",  # its files do not tell
        document.stem,
        series,
        Machine(),
        started_at=None,
        warnings=_exits(series),
    )


def _series(node: Node) -> TimingSeries:
    command = node.at("command").text()
    given = node.get("parameters")
    params: dict[str, object] = {} if given is None else {key: typed(value.text()) for key, value in given.items()}
    cpu_s = node.at("user").amount() + node.at("system").amount()
    return TimingSeries(command, command, params, _samples(node), observed={"cpu_s_mean": cpu_s})


def _samples(node: Node) -> list[Sample]:
    given = node.at("times")
    times = given.amounts()
    if not times:
        raise given.expected("at least one time")
    _hold_together(node, times)
    samples = [measured(i, {"duration_s": time}) for i, time in enumerate(times)]
    for name, nodes in _per_run(node, len(times)).items():
        for i, own in enumerate(nodes):
            samples[i] = _with(samples[i], name, own)
    return samples


def _per_run(node: Node, runs: int) -> Mapping[str, list[Node]]:
    """What newer releases write beside each time."""
    found = {}
    for name in ("exit_codes", "memory_usage_byte"):
        given = node.get(name)
        if given is not None:
            found[name] = given.elements()
            if len(found[name]) != runs:
                raise given.fail(f"has {len(found[name])} elements for {runs} times")
    return found


def _with(sample: Sample, name: str, node: Node) -> Sample:
    if name == "memory_usage_byte":
        return replace(sample, readings={**sample.readings, "peak_rss_bytes": node.amount()})
    code = None if node.value is None else round(node.number())
    if code == 0:
        return sample
    # It ran to its end and its time is in hyperfine's figures: a wrong answer, not a missing one.
    ended = "ended by a signal" if code is None else f"exit code {code}"
    return replace(sample, status=Status.FAILED, details={"ended": ended})


def _hold_together(node: Node, times: Sequence[float]) -> None:
    """The figures beside the times have to be theirs."""
    for key, value in (("mean", math.fsum(times) / len(times)), ("min", min(times)), ("max", max(times))):
        stated = node.at(key)
        if not math.isclose(stated.amount(), value, rel_tol=_CLOSE, abs_tol=1e-12):
            raise stated.fail(f"says {stated.amount():g}, and the times give {value:g}: they do not belong together")


def _exits(series: Sequence[TimingSeries]) -> list[RunWarning]:
    failed = [item.name for item in series if any(sample.status is Status.FAILED for sample in item.samples)]
    if not failed:
        return []
    return [
        RunWarning(
            "failed-commands",
            f"{', '.join(failed[:3])}{' and others' if len(failed) > 3 else ''} did not always exit with 0; "
            "the times are kept, as hyperfine does",
            "Check that the commands do what they should.",
        )
    ]
