"""Document search: BM25 over the bundled documents, or over the paragraphs of a long text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = Path(__file__).parent / "documents"

_WORD = re.compile(r"\w+(?:\.\d+)?", re.UNICODE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_IGNORED = frozenset(
    (
        *("a", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i"),
        *("in", "is", "it", "its", "many", "much", "my", "of", "on", "or", "per", "that", "the", "their", "there"),
        *("they", "this", "to", "was", "what", "when", "where", "which", "who", "will", "with", "you", "your"),
    )
)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the name it is found under."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document and how well it fits the query; scores compare within one query only."""

    document: Document
    score: float


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, endings cut, words without meaning of their own left out."""
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in _IGNORED]


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


class Bm25:
    """Ranks documents by the words they share with a query; rare words count more, long documents less.

    ``saturation`` limits what repeating a word adds, ``length_weight`` (0..1) how much length is held against a
    document.
    """

    def __init__(self, documents: Iterable[Document], saturation: float = 1.4, length_weight: float = 0.6) -> None:
        self.documents = tuple(documents)
        self._counts = [Counter(words_of(f"{item.title} {item.text}")) for item in self.documents]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean_length = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        self._saturation = saturation
        self._length_weight = length_weight
        found_in = Counter(word for counts in self._counts for word in counts)
        total = len(self.documents)
        self._rarity = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in found_in.items()}

    def search(self, query: str, limit: int = 1) -> list[Hit]:
        """The best documents first; those that share no word with the query are left out."""
        words = words_of(query)
        hits = [Hit(item, self._score(words, place)) for place, item in enumerate(self.documents)]
        found = [hit for hit in hits if hit.score > 0]
        return sorted(found, key=lambda hit: (-hit.score, hit.document.name))[:limit]

    def coverage(self, query: str) -> float:
        """How much of the query the best document holds: the share of its words, weighted by rarity, in 0..1."""
        unknown = math.log(1 + (len(self.documents) + 0.5) / 0.5)
        weights = {word: self._rarity.get(word, unknown) for word in words_of(query)}
        total = sum(weights.values())
        held = (sum(weight for word, weight in weights.items() if word in counts) for counts in self._counts)
        return max(held, default=0.0) / total if total else 0.0

    def _score(self, words: Sequence[str], place: int) -> float:
        counts, total = self._counts[place], 0.0
        spread = 1 - self._length_weight + self._length_weight * self._lengths[place] / (self._mean_length or 1.0)
        for word in set(words):
            count = counts[word]
            total += (
                self._rarity.get(word, 0.0) * count * (self._saturation + 1) / (count + self._saturation * spread)
            )
        return total


def load_documents(folder: Path = DOCUMENTS) -> list[Document]:
    """Every ``*.md`` file of a folder: the heading is the title, the rest the text."""
    found: list[Document] = []
    for path in sorted(folder.glob("*.md")):
        heading, _, body = path.read_text(encoding="utf-8").partition("\n")
        found.append(Document(path.stem, heading.lstrip("# ").strip(), body.strip()))
    return found


def paragraphs_of(text: str) -> list[Document]:
    """The lines of a long text as documents of their own."""
    parts = [part.strip() for part in text.splitlines() if part.strip()]
    return [Document(f"paragraph-{number:03d}", "", part) for number, part in enumerate(parts, start=1)]


def excerpt(text: str, question: str, sentences: int = 1) -> str:
    """The sentences of a text that fit the question best, in their order; the whole text where none does."""
    parts = [Document(f"{number:04d}", "", part) for number, part in enumerate(_SENTENCE_END.split(text))]
    hits = Bm25(parts).search(question, sentences)
    return " ".join(hit.document.text for hit in sorted(hits, key=lambda hit: hit.document.name)) or text
