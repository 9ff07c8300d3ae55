"""Two ways to find the documents that hold every word of a query. They give the same answers."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

_SYLLABLES = ("ra", "to", "mi", "ne", "sol", "ka", "lu", "den", "vi", "por", "as", "em")


def make_documents(count: int, words: int, seed: int) -> list[str]:
    """``count`` texts of ``words`` invented words each; common words are common, as in real text."""
    rng = random.Random(seed)
    vocabulary = sorted({"".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(2000)})
    weights = [1.0 / (rank + 10) for rank in range(len(vocabulary))]
    return [" ".join(rng.choices(vocabulary, weights, k=words)) for _ in range(count)]


def make_queries(documents: Sequence[str], count: int, seed: int) -> list[tuple[str, ...]]:
    """Two words of one document each, so that every query has an answer."""
    rng = random.Random(seed)
    return [tuple(rng.sample(rng.choice(documents).split(), 2)) for _ in range(count)]


class ScanIndex:
    """Looks at every document for every query."""

    def __init__(self, documents: Iterable[str]) -> None:
        self._documents = [frozenset(text.split()) for text in documents]

    def find(self, query: Sequence[str]) -> list[int]:
        return [i for i, words in enumerate(self._documents) if all(word in words for word in query)]


class InvertedIndex:
    """Knows for every word which documents hold it."""

    def __init__(self, documents: Iterable[str]) -> None:
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        for i, text in enumerate(documents):
            for word in text.split():
                self._places[word].add(i)

    def find(self, query: Sequence[str]) -> list[int]:
        places = sorted((self._places.get(word, set()) for word in query), key=len)
        return sorted(set.intersection(*places)) if places else []


INDEXES: dict[str, type[ScanIndex] | type[InvertedIndex]] = {"scan": ScanIndex, "inverted": InvertedIndex}
