"""An experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric


class WordCount(Experiment):
    """Counts how often each word of a text occurs."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "distinct": Metric("distinct", "words", Direction.HIGHER, machine_dependent=False)
    }

    def __init__(self, words: int = 200, method: Literal["counter", "dict"] = "counter") -> None:
        super().__init__({"words": words, "method": method})
        self.text: list[str] = []

    def setup(self, context: ExperimentContext) -> None:
        self.text = [f"word{number % 17}" for number in range(self.params["words"])]
        context.observe(words=len(self.text), method=self.params["method"])

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:
        if self.params["method"] == "counter":
            return {"distinct": len(Counter(self.text))}
        counts: dict[str, int] = {}
        for word in self.text:
            counts[word] = counts.get(word, 0) + 1
        return {"distinct": len(counts)}
