"""Cases of a user's own to ask with: each as often as its weight says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.load.plan.requests import MOST_BYTES, RequestEncoder, RequestSet
from agentdyno.model.case import Case, as_text
from agentdyno.model.load import LoadOptions, LoadTarget

_LEAST_DEALT = 1000
_DEALT_PER_CASE = 10
_MOST_BYTES = 4 * MOST_BYTES
_SEED_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases with the weight of each, all above 0."""

    cases: tuple[Case, ...]
    weights: tuple[float, ...]

    def dealt(self, seed: int) -> tuple[Case, ...]:
        """The cases in the order in which they are asked, over and over again.

        With equal weights that is the order of the file. Else each comes in proportion to its weight, and at least
        once, in an order that the seed gives.
        """
        weights = np.asarray(self.weights, dtype=np.float64)
        if np.all(weights == weights[0]):
            return self.cases
        shares = _shared_out(weights / weights.sum(), max(_LEAST_DEALT, _DEALT_PER_CASE * len(self.cases)))
        order = np.repeat(np.arange(len(self.cases)), shares)
        np.random.default_rng([seed & _SEED_MASK, 13]).shuffle(order)
        return tuple(self.cases[number] for number in order.tolist())


def build_case_requests(
    target: LoadTarget, options: LoadOptions, cases: CaseSet, seed: int, *, key: str | None = None
) -> RequestSet:
    """A request for each case that is dealt; the bytes of one that comes again are there once."""
    encoder = RequestEncoder(target, options, key=key)
    encoded: dict[str, bytes] = {}
    size = 0
    for case in cases.cases:
        if case.turns:
            raise SpecError(
                f"case {case.id!r} is a conversation of {len(case.turns)} turns, which is more than one request",
                where="load.dataset",
                remedy="Put an agent under load, or hold the conversation in a journey.",
            )
        encoded[case.id] = encoder.encode_input(case.input)
        size += len(encoded[case.id])
        if size > _MOST_BYTES:
            raise SpecError(
                f"the cases are more than {_MOST_BYTES // 1024**2} MiB of requests",
                where="load.dataset",
                remedy="Take a part of them.",
            )
    dealt = cases.dealt(seed)
    texts = tuple(as_text(case.input) for case in dealt)
    words = tuple(len(text.split()) for text in texts)
    return RequestSet(tuple(encoded[case.id] for case in dealt), encoder.streams, target.dialect, words, texts)


def _shared_out(shares: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """About ``count`` places by share, none left without one: whole parts first, then the largest remainders."""
    wanted = shares * count
    whole = np.maximum(np.floor(wanted), 1.0).astype(np.int64)
    missing = count - int(whole.sum())
    if missing > 0:
        whole[np.argsort(-(wanted - whole), kind="stable")[:missing]] += 1
    return whole
