"""Texts to ask with: so many words, the same for the same seed, and no two alike.

A server that keeps the state of prompts it has seen would answer a repeated one from there. Each text therefore
differs from every other one in its first word, unless a shared beginning is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError, nearest
from agentdyno.model.load import PromptLengths
from agentdyno.settings.load_requests import SHARED

DISTRIBUTIONS = ("fixed", "uniform", "lognormal", "trace")
LONGEST = 4_000_000
"""Words in one prompt, at most."""
_SEED_MASK = (1 << 64) - 1
_VOCABULARY = """
    about above across actor adult after again agree alarm allow alone among apple arena argue arrow aside autumn
    baker basic beach begin below bench birth black board borrow bottle brain branch bread bridge bright brown build
    cabin camera candle carpet carry castle cause center chain chair cheap choose circle city clean clear climb
    clock cloud coffee color common copper corner cotton count cover credit cross dance danger decide deep degree
    delay desert dinner doctor double dream drive early earth eight empty engine enough equal escape evening every
    exact expert fabric famous farmer father field final finger flower follow forest forget fresh friend front
    garden gentle glass golden grain ground group guess guitar harbor heart heavy honest horse house human hunter
    income inside island jacket judge kitchen knife ladder large later layer learn lemon letter level light listen
    little local lucky machine major market matter meadow metal middle minute mirror money month morning mother
    motion mountain music narrow nature nearly needle never night noise north number ocean offer office often orange
    order other outer paint paper parent people pepper piano picture planet plate point pretty price proud public
    quick quiet radio rain reason record river round salad sample school season second shadow sharp silver simple
    single sister small smile smooth solid south speak spring square station stone story street strong sugar summer
    table teacher thick thread ticket tiger today tower train travel tree under value velvet village voice walk
    water weather wheel white window winter wonder world write yellow young
"""
_WORDS = tuple(_VOCABULARY.split())


def prompt_texts(words: Sequence[int], seed: int, *, shared: int = SHARED.default) -> tuple[str, ...]:
    """One text for each number of words, exactly so long. The first ``shared`` words are the same in all of them.

    Where a text is longer than what is shared, the word after that is found in no other text of the set.
    """
    beginning = _draw(_generator(seed, 0), min(shared, max(words, default=0)))
    rng = _generator(seed, 1)
    # Told apart by their number, and from the texts of another seed by the tag.
    tag = int(rng.integers(16**5, 16**6))
    texts: list[str] = []
    for number, length in enumerate(words):
        same = beginning[:length]
        rest = length - len(same)
        own = [f"{tag:x}x{number}", *_draw(rng, rest - 1)] if rest > 0 else []
        texts.append(" ".join([*same, *own]))
    return tuple(texts)


def prompt_lengths(lengths: PromptLengths, count: int, seed: int) -> tuple[int, ...]:
    """``count`` lengths in words, drawn as ``lengths`` says; a mean is the mean before the ends are cut."""
    check_lengths(lengths)
    rng = _generator(seed, 2)
    if lengths.distribution == "uniform":
        drawn = rng.integers(lengths.low, lengths.high + 1, count).astype(np.float64)
    elif lengths.distribution == "lognormal":
        middle = math.log(lengths.mean) - lengths.sigma**2 / 2.0
        drawn = np.clip(np.rint(rng.lognormal(middle, lengths.sigma, count)), lengths.low, lengths.high)
    else:
        drawn = np.full(count, max(1.0, float(round(lengths.mean))))
    return tuple(int(value) for value in drawn)


def check_lengths(lengths: PromptLengths, *, where: str = "prompts") -> None:
    """``SpecError`` where nothing can be drawn from them."""
    if lengths.distribution not in DISTRIBUTIONS:
        raise SpecError(
            f"there is no distribution {lengths.distribution!r}",
            where=f"{where}.distribution",
            remedy=nearest(lengths.distribution, DISTRIBUTIONS),
        )
    if not 1 <= lengths.low <= lengths.high <= LONGEST:
        raise SpecError(
            f"lengths go from {lengths.low} to {lengths.high} words",
            where=where,
            remedy=f"low is at least 1, high no less than low and at most {LONGEST:,}.",
        )
    if not (math.isfinite(lengths.mean) and 0.0 < lengths.mean <= LONGEST):
        raise SpecError(f"a mean of {lengths.mean:g} words cannot be", where=f"{where}.mean")
    if not (math.isfinite(lengths.sigma) and 0.0 <= lengths.sigma <= 5.0):
        raise SpecError(f"a sigma of {lengths.sigma:g} is not between 0 and 5", where=f"{where}.sigma")
    if lengths.shared < 0:
        raise SpecError("the number of shared words is 0 or more", where=f"{where}.shared")


def _draw(rng: np.random.Generator, count: int) -> list[str]:
    chosen: NDArray[np.int64] = rng.integers(0, len(_WORDS), max(count, 0))
    return [_WORDS[index] for index in chosen.tolist()]


def _generator(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed & _SEED_MASK, 7, purpose])
