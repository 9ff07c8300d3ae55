"""What an Inspect log says about its scores, and whether its samples agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentdyno.importers.content import settings, share, shown, text_of
from agentdyno.importers.document import Node
from agentdyno.importers.evals.evaluated import PASS_THRESHOLD, EvaluatedTotals
from agentdyno.importers.evals.inspect_samples import InspectExecution, Primary
from agentdyno.model import Reducer, Rubric, RunWarning, ScorerUse

TOOL = "inspect"
_MEANS = ("accuracy", "mean")
_CLOSE = 1e-6


def primary_of(root: Node, threshold: float) -> Primary:
    """What Inspect puts in the headline, else the first score of the results, else the first scorer."""
    scores = _scores(root)
    results = root.get("results")
    headline = None if results is None else results.get("headline")
    if headline is not None:
        scorer, name = text_of(headline.at("scorer")), text_of(headline.get("score"))
    elif scores:
        scorer, name = text_of(scores[0].at("scorer")), text_of(scores[0].at("name"))
    else:
        scorers = root.at("eval").get("scorers")
        first = scorers.elements()[:1] if scorers is not None else []
        scorer = name = text_of(first[0].at("name")).rpartition("/")[2] if first else ""
    return Primary(scorer, None if name in ("", scorer) else name, threshold)


def rubric_of(root: Node) -> Rubric:
    """Scorers with their options; how Inspect joins epochs, as far as there is the same here."""
    asked = root.at("eval")
    given = asked.get("scorers")
    uses = []
    for place, scorer in enumerate(given.elements() if given is not None else []):
        uses.append(
            ScorerUse(f"{TOOL}:{scorer.at('name').text()}", float(not place), settings(scorer.get("options")))
        )
    first = next(iter(_reducers(root)), "mean")
    if first == "max":
        return Rubric(tuple(uses), reducer=Reducer.MAX)
    name, _, number = first.rpartition("_")
    if name == "pass_at" and number.isdecimal() and 0 < int(number) < 10_000:
        # For Inspect a try has passed when its value is 1.
        return Rubric(tuple(uses), 1.0, Reducer.PASS_AT_K, int(number))
    return Rubric(tuple(uses), PASS_THRESHOLD)


def check_samples(root: Node, read: Sequence[InspectExecution], rubric: Rubric, logged: int, status: str) -> None:
    """The samples have to be those that the results were taken of."""
    seen = set()
    for item in read:
        key = (item.case.id, item.sample.iteration)
        if key in seen:
            raise root.fail(f"has sample {item.case.id!r} twice in epoch {key[1] + 1}")
        seen.add(key)
    results = root.get("results")
    if results is None:
        if status == "success":
            raise root.fail("says it ended with success and has no 'results'")
        return
    total = results.at("total_samples")
    if read and status == "success" and total.count() != logged and results.get("early_stopping") is None:
        raise total.fail(f"says {total.count()} samples, and the log holds {logged}")
    scores = _scores(root)
    if read and scores and rubric.reducer is Reducer.MEAN and status == "success":
        _check_mean(root, scores[0], read)


def _check_mean(root: Node, score: Node, read: Sequence[InspectExecution]) -> None:
    """Where Inspect reports a plain mean, it is the one of the samples."""
    if next(iter(_reducers(root)), "mean") != "mean":
        return
    for name, metric in score.at("metrics").items():
        told = metric.get("params") or metric.get("options")
        if name not in _MEANS or (told is not None and told.value):
            continue
        by_case: dict[str, list[float]] = {}
        for item in read:
            value = item.values.scores.get("score")
            if item.values.scores and (value is None or item.sample.failure is not None):
                return  # judged in a way that only Inspect knows
            if value is not None:
                by_case.setdefault(item.case.id, []).append(value)
        if not by_case or text_of(score.at("scorer")) != primary_of(root, 0.0).scorer:
            return
        mean = math.fsum(math.fsum(own) / len(own) for own in by_case.values()) / len(by_case)
        stated = metric.at("value")
        if not math.isclose(stated.number(), mean, rel_tol=_CLOSE, abs_tol=_CLOSE):
            raise stated.fail(f"says {stated.number():g}, and the samples give {mean:g}: they do not belong together")


def totals_of(root: Node, primary: Primary) -> EvaluatedTotals | None:
    """Of a log without samples."""
    named: dict[str, float] = {}
    mean = error = None
    cases = 0
    for place, score in enumerate(_scores(root)):
        metrics = score.at("metrics")
        value = next((node.at("value") for name in _MEANS if (node := metrics.get(name)) is not None), None)
        figure = None if value is None else share(value)
        stderr = metrics.get("stderr")
        if text_of(score.at("scorer")) == primary.scorer and mean is None and figure is not None:
            mean, error = figure, None if stderr is None else stderr.at("value").amount()
            cases = _scored(root, score)
        elif figure is not None:
            named[text_of(score.at("name")) or str(place)] = figure
    return EvaluatedTotals(cases, mean, error, named) if mean is not None or named else None


def _scored(root: Node, score: Node) -> int:
    """Cases with a score, which older releases do not count."""
    given = score.get("scored_samples")
    if given is not None:
        return given.count(1)
    config = root.at("eval").get("config")
    epochs = None if config is None else config.get("epochs")
    return max(1, root.at("results").at("completed_samples").count() // (1 if epochs is None else epochs.count(1)))


def reported_by(root: Node) -> dict[str, object]:
    """The figures that Inspect reports, as it reports them."""
    reported = []
    for score in _scores(root):
        metrics = {name: shown(metric.get("value")) for name, metric in score.at("metrics").items()}
        reducer = score.get("reducer")
        told: dict[str, object] = {"score": text_of(score.at("name")), "metrics": metrics}
        reported.append({**told, "reducer": text_of(reducer)} if reducer is not None else told)
    return {"reported": reported} if reported else {}


def warnings_of(root: Node, read: Sequence[InspectExecution], primary: Primary) -> list[RunWarning]:
    found = []
    outside = sum(
        name in (primary.scorer, f"{primary.scorer}.{primary.key}") for item in read for name in item.values.outside
    )
    if outside:
        found.append(
            RunWarning(
                "outside-0-to-1",
                f"{outside} values of {primary.scorer} lie outside 0 to 1 and are no scores here; they are kept "
                "beside the answers",
                "Let the scorer give values from 0 to 1.",
            )
        )
    first = next(iter(_reducers(root)), "mean")
    if first not in ("mean", "max") and not first.startswith("pass_at_"):
        found.append(
            RunWarning(
                "other-reducer",
                f"Inspect joined the epochs of a case by {first}; here it is their mean",
                "The figures that Inspect reports are kept with the arm.",
            )
        )
    return found


def _reducers(root: Node) -> list[str]:
    config = root.at("eval").get("config")
    given = None if config is None else config.get("epochs_reducer")
    return [] if given is None else [item.text() for item in given.elements()]


def _scores(root: Node) -> list[Node]:
    results = root.get("results")
    given = None if results is None else results.get("scores")
    return [] if given is None else given.elements()
