"""The experiment: how long an agent waits for its documents."""

from __future__ import annotations

from typing import Any, Literal

from agentdyno import Experiment, ExperimentContext
from agentdyno.workloads.retrieval.search import INDEXES, ScanIndex, make_documents, make_queries


class Retrieval(Experiment):
    """Document lookup by words: a scan over all documents, or an inverted index."""

    def __init__(
        self,
        documents: int = 1000,
        index: Literal["scan", "inverted"] = "inverted",
        queries: int = 20,
        words: int = 60,
    ) -> None:
        super().__init__({"documents": documents, "index": index, "queries": queries, "words": words})

    def setup(self, context: ExperimentContext) -> None:
        """Builds the documents, the index and the queries, and proves that its answers are right."""
        texts = make_documents(self.params["documents"], self.params["words"], seed=7)
        self.queries = make_queries(texts, self.params["queries"], seed=11)
        self.index = INDEXES[self.params["index"]](texts)
        oracle = ScanIndex(texts)
        for query in self.queries:
            if self.index.find(query) != oracle.find(query):
                raise AssertionError(f"{type(self.index).__name__} answers {query} differently from a scan")
        context.observe(index=type(self.index).__name__, documents=len(texts))

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """Answers every query once."""
        hits = 0
        for query in self.queries:
            hits += len(self.index.find(query))
        return {"hits": hits}
