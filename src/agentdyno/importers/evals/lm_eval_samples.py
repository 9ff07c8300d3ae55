"""``samples_TASK_DATE.jsonl`` of lm-evaluation-harness: one line per document and filter."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import share, shown, text_of
from agentdyno.importers.document import MAX_BYTES, WRITE_AGAIN, Node, parse, printable
from agentdyno.importers.evals.evaluated import answered, judged
from agentdyno.model import Case, Sample

_PLAIN_FILTER = "none"
_RESULTS = re.compile(r"results_(?P<date>.+)\.json")


@dataclass(frozen=True, slots=True)
class LmEvalFigure:
    """A figure of a task: ``value`` by the filter of that name, with its standard error where lm-eval has one.

    ``is_share`` is true for values in 0..1 of which higher ones are better.
    """

    name: str
    filter: str
    value: Node
    stderr: Node | None
    is_share: bool = field(default=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_share", self.is_share and share(self.value) is not None)

    @property
    def label(self) -> str:
        return self.name if self.filter == _PLAIN_FILTER else f"{self.name},{self.filter}"

    @property
    def error(self) -> float | None:
        """lm-eval writes ``N/A`` where it has none."""
        return None if self.stderr is None or isinstance(self.stderr.value, str) else self.stderr.amount()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a file of samples is read for: metrics, the deciding one first, and the model that answered."""

    metrics: Sequence[LmEvalFigure]
    model: str
    simulated: bool


@dataclass(slots=True)
class Samples:
    """The content of one file; ``values`` are the values of each metric by its label."""

    file: str
    sha256: str
    cases: list[Case] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)

    def fail(self, problem: str) -> ImportFailed:
        return ImportFailed(problem, where=self.file, remedy=WRITE_AGAIN)


def samples_file(results: Path, task: str) -> Path | None:
    """The samples of a task that lie beside its results."""
    named = _RESULTS.fullmatch(results.name)
    name = f"samples_{task}_{named['date']}.jsonl" if named else ""
    if not name or Path(name).name != name:
        return None
    path = results.parent / name
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def read_samples(path: Path, asked: Asked) -> Samples:
    """Every document once; what other filters make of its answer becomes further scores of it."""
    file = printable(path.name)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=file) from None
    if len(raw) > MAX_BYTES:
        raise ImportFailed(f"the file is larger than {MAX_BYTES >> 20} MiB", where=file, remedy="Leave it out.")
    found = Samples(file, hashlib.sha256(raw).hexdigest())
    places: dict[str, int] = {}
    seen = set()
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}: line {number}"
        row = Node(parse(line, where), where)
        case_id = _case_id(row.at("doc_id"))
        kind = row.get("filter")
        by = _PLAIN_FILTER if kind is None else kind.text()
        if (case_id, by) in seen:
            raise row.fail(f"has document {case_id} a second time")
        seen.add((case_id, by))
        if case_id not in places:
            places[case_id] = len(found.cases)
            found.cases.append(_case(row, case_id))
            found.samples.append(_sample(row, case_id, asked))
        place = places[case_id]
        found.samples[place] = _scored(found, found.samples[place], row, by, asked.metrics)
    if not found.cases:
        raise found.fail("the file is empty")
    found.samples = [_judged(sample) for sample in found.samples]
    return found


def _case_id(node: Node) -> str:
    return node.text() if isinstance(node.value, str) else str(node.count())


def _case(row: Node, case_id: str) -> Case:
    document = row.get("doc")
    kept = shown(document)
    metadata = kept if isinstance(kept, dict) else {} if kept is None else {"doc": kept}
    return Case(case_id, _prompt(row), shown(row.get("target")), metadata)


def _prompt(row: Node) -> object:
    """The text that the model saw: the first argument of the first request."""
    given = row.get("arguments")
    first = given
    for key in ("gen_args_0", "arg_0"):
        if first is not None and isinstance(first.value, dict):
            first = first.get(key)
        elif first is not None and isinstance(first.value, list):
            first = next(iter(first.elements()), None)
    asked = shown(first)
    return shown(row.get("doc")) if asked is None else asked


def _sample(row: Node, case_id: str, asked: Asked) -> Sample:
    details: dict[str, object] = {"imported": True, "model": asked.model}
    if asked.simulated:
        details["simulated"] = True
    sample = answered(case_id, 0, status=judged(None), scores={"score": None})
    return replace(sample, output=_output(row), details=details)


def _output(row: Node) -> object:
    """What a generating model wrote; of choices the likelihoods, as they are."""
    given = row.get("filtered_resps") or row.get("resps")
    if given is None or not isinstance(given.value, list):
        return shown(given)
    parts = given.elements()
    return text_of(parts[0]) if len(parts) == 1 and isinstance(parts[0].value, str) else shown(given)


def _scored(found: Samples, sample: Sample, row: Node, by: str, metrics: Sequence[LmEvalFigure]) -> Sample:
    """The sample with the scores of one more line; the output is that of the deciding filter."""
    scores = dict(sample.scores)
    for place, metric in enumerate(metrics):
        given = row.get(metric.name)
        if metric.filter != by or given is None:
            continue
        value = share(given) if metric.is_share else None
        if value is not None:
            found.values.setdefault(metric.label, []).append(value)
        scores["score" if place == 0 else metric.label] = value
    decides = metrics[0].filter == by
    return replace(sample, scores=scores, output=_output(row) if decides else sample.output)


def _judged(sample: Sample) -> Sample:
    return replace(sample, status=judged(sample.scores.get("score")))
