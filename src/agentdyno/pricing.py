"""Tokens and CPU time as money.

The prices of ``dyno.yaml`` come first, then the public list that genai-prices carries (its bundled data, never the
network), then CPU time. What an agent says it cost is kept beside that and is nobody's cost: an agent could say
anything. What nobody can price is unknown, not free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from agentdyno.model.case import RECORDED, Event, Response, Usage, counted_calls
from agentdyno.model.metric import Provenance
from agentdyno.model.workspace import Price

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, Provider

CostSource: TypeAlias = Literal["reported", "priced", "derived", "unknown", "free"]
_MILLION = Decimal(1_000_000)
_WILD = "*?["
ANY_MODEL = "*"
"""The pattern under ``prices:`` that every model fits, one without a name too."""


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, ``None`` where unknown. ``model`` is what the price was looked up for, several joined by `` + ``.

    ``source``: its tokens were ``priced``, it was ``derived`` from CPU time, its price is known to be zero
    (``free``), only the agent says what it was (``reported``: then ``usd`` is unknown), or it is ``unknown``.
    ``reported_usd`` is what the agent says, whatever else is known.
    """

    usd: float | None
    source: CostSource
    provenance: Provenance
    model: str | None = None
    reported_usd: float | None = None


class _Rate(Protocol):
    def usd(self, usage: Usage, calls: int, at: datetime) -> Decimal | None:
        """The price of ``calls`` calls that used ``usage`` in all; ``None`` where the rate does not cover it."""

    def plain(self, at: datetime) -> dict[str, object]:
        """The rate as a result keeps it, in dollars per million tokens."""


@dataclass(frozen=True, slots=True)
class _Use:
    """Tokens that one model took in ``calls`` calls."""

    model: str
    usage: Usage
    calls: int = 1


@dataclass
class PriceBook:
    """The prices of a run. ``prices`` are by exact model name or pattern (``gpt-5*``); the longest pattern wins.

    ``cpu_hour_usd`` is the price of an hour of CPU time, for agents that run on one's own machine. ``clock`` tells
    when a call is priced: listed prices change with the date and, for some, with the hour.
    """

    prices: Mapping[str, Price] = field(default_factory=dict)
    cpu_hour_usd: float | None = None
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), repr=False)
    _rates: dict[tuple[str, str | None], _Rate | None] = field(default_factory=dict, init=False, repr=False)
    _cpu_used: bool = field(default=False, init=False, repr=False)

    def cost(self, response: Response, *, provider_hint: str | None = None, cpu_s: float | None = None) -> Cost:
        """What an answer cost.

        ``provider_hint`` is the provider's name or the address that was called; with one, only that provider's list
        counts, so that a local server is not billed as the vendor whose model it serves. ``cpu_s`` is the CPU time
        of all that worked on the answer, the model's server included: leave it out where a part ran elsewhere. An
        agent that says it paid for something did have a part run elsewhere.
        """
        known = Provenance.SIMULATED if response.simulated else None
        said = response.cost
        reported = said if said is not None and math.isfinite(said) and said >= 0 else None
        uses = _uses(response) or self._unnamed(response)
        named = [use.model for use in uses if use.model != ANY_MODEL]
        model = " + ".join(dict.fromkeys(named)) if named else response.model
        total = self._total(uses, provider_hint) if uses else None
        if total is not None:
            return Cost(float(total), _source(total, uses), known or Provenance.DERIVED, model, reported)
        if cpu_s is not None and self.cpu_hour_usd is not None and not reported:
            self._cpu_used = True
            usd = _exact(cpu_s) * _exact(self.cpu_hour_usd) / 3600
            return Cost(float(usd), "derived", known or Provenance.DERIVED, model, reported)
        if reported is not None:
            return Cost(None, "reported", known or Provenance.REPORTED, model, reported)
        return Cost(None, "unknown", known or Provenance.MEASURED, model)

    def _unnamed(self, response: Response) -> list[_Use]:
        """Tokens of a model that nobody names: what ``"*"`` says of the price is said of every model."""
        calls = counted_calls(response.events)
        if ANY_MODEL not in self.prices or response.usage is None or response.model is not None:
            return []
        return [] if any(event.name for event in calls) else [_Use(ANY_MODEL, response.usage, len(calls) or 1)]

    def estimate(
        self, model: str, input_tokens: int, output_tokens: int, *, provider_hint: str | None = None
    ) -> Cost:
        """What one call of ``model`` would cost with so many tokens."""
        uses = [_Use(model, Usage(input_tokens, output_tokens))]
        total = self._total(uses, provider_hint)
        if total is None:
            return Cost(None, "unknown", Provenance.ESTIMATED, model)
        return Cost(float(total), _source(total, uses), Provenance.ESTIMATED, model)

    def snapshot(self) -> Mapping[str, object]:
        """The prices looked up so far, for the header of a run; a model without a price has the source ``unknown``.

        ``models`` gives dollars per million tokens (``input``, ``output``, ``cached``) and per call (``request``).
        """
        at = self.clock()
        models: dict[str, object] = {}
        for (model, _), rate in sorted(self._rates.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            row = {"source": "unknown"} if rate is None else rate.plain(at)
            if rate is not None or model not in models:
                models[model] = row
        found: dict[str, object] = {"models": models}
        if any(isinstance(rate, _Listed) for rate in self._rates.values()):
            from importlib.metadata import version

            found["genai_prices"] = {
                "version": version("genai-prices"),
                "priced_at": at.isoformat(timespec="seconds"),
            }
        if self._cpu_used:
            found["cpu_hour_usd"] = self.cpu_hour_usd
        return found

    def _total(self, uses: Sequence[_Use], provider_hint: str | None) -> Decimal | None:
        at = self.clock()
        total = Decimal(0)
        for use in uses:
            rate = self._rate(use.model, provider_hint)
            usd = None if rate is None else rate.usd(use.usage, use.calls, at)
            if usd is None:
                return None
            total += usd
        return total

    def _rate(self, model: str, provider_hint: str | None) -> _Rate | None:
        key = (model, provider_hint)
        if key not in self._rates:
            self._rates[key] = self._override(model) or _listed(model, provider_hint)
        return self._rates[key]

    def _override(self, model: str) -> _Rate | None:
        if model in self.prices:
            return _Override(self.prices[model], model)
        fitting = [name for name in self.prices if any(sign in name for sign in _WILD) and fnmatchcase(model, name)]
        best = max(fitting, key=len, default=None)
        return None if best is None else _Override(self.prices[best], best)


def _source(total: Decimal, uses: Sequence[_Use]) -> CostSource:
    """Tokens that cost nothing are free; no tokens at all say nothing about the price."""
    return "free" if not total and any(use.usage.total_tokens for use in uses) else "priced"


def _uses(response: Response) -> list[_Use]:
    """What each model took; empty where that cannot be told.

    Single calls are better than their sum, because a price may depend on the length of one call's input; but they
    must account for all tokens that the agent says it used.
    """
    calls = counted_calls(response.events)
    calls = [event for event in calls if not _refused(event)]
    models = {event.name or response.model for event in calls}
    uses = [use for event in calls if (use := _use(event, response.model)) is not None]
    if calls and len(uses) == len(calls):
        total = sum((use.usage for use in uses), Usage())
        if response.usage is None or total == response.usage:
            return uses
    if len(models) > 1 or response.model is None or response.usage is None:
        return []
    return [_Use(response.model, response.usage, len(calls) or response.api_calls or 1)]


def _refused(event: Event) -> bool:
    """Whether a recorded call is known to have used nothing: it got no answer, or an error for one."""
    status = event.details.get("status")
    answered = isinstance(status, int) and status < 400
    return bool(event.details.get(RECORDED)) and "usage" not in event.details and not answered


def _use(event: Event, default_model: str | None) -> _Use | None:
    usage = event.details.get("usage")
    model = event.name or default_model
    if isinstance(usage, Usage):
        return _Use(model, usage) if model else None
    if not isinstance(usage, Mapping) or not model:
        return None
    counts = {
        name: value
        for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
        if isinstance(value := usage.get(name), int)
    }
    return _Use(model, Usage(**counts))


@dataclass(frozen=True, slots=True)
class _Override:
    """A price of ``dyno.yaml``; ``pattern`` is what it says there."""

    price: Price
    pattern: str

    def usd(self, usage: Usage, calls: int, at: datetime) -> Decimal | None:  # noqa: ARG002
        cached = min(usage.cached_tokens, usage.input_tokens)
        cached_price = self.price.input if self.price.cached is None else self.price.cached
        tokens = (
            (usage.input_tokens - cached) * _exact(self.price.input)
            + cached * _exact(cached_price)
            + usage.output_tokens * _exact(self.price.output)
        )
        return tokens / _MILLION + calls * _exact(self.price.request)

    def plain(self, at: datetime) -> dict[str, object]:  # noqa: ARG002
        price = self.price
        return {
            "input": price.input,
            "output": price.output,
            "cached": price.cached,
            "request": price.request,
            "source": "dyno.yaml",
            "pattern": self.pattern,
        }


@dataclass(frozen=True, slots=True)
class _Listed:
    """A model in the list of genai-prices, as its provider sells it."""

    provider: Provider
    model: ModelInfo

    def usd(self, usage: Usage, calls: int, at: datetime) -> Decimal | None:
        from genai_prices import Usage as ListedUsage

        prices = self.model.get_prices(at)
        if (usage.input_tokens and prices.input_mtok is None) or (usage.output_tokens and prices.output_mtok is None):
            return None  # sold by the image or the minute: tokens say nothing
        counted = ListedUsage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=min(usage.cached_tokens, usage.input_tokens) or None,
            output_reasoning_tokens=min(usage.reasoning_tokens, usage.output_tokens) or None,
        )
        try:
            total = self.model.calc_price(counted, self.provider, genai_request_timestamp=at).total_price
        except ValueError:
            return None
        return total + (calls - 1) * _per_call(prices)  # the list counts one call itself

    def plain(self, at: datetime) -> dict[str, object]:
        prices = self.model.get_prices(at)
        return {
            "input": _shown(prices, "input_mtok"),
            "output": _shown(prices, "output_mtok"),
            "cached": _shown(prices, "cache_read_mtok"),
            "request": float(_per_call(prices)),
            "source": "genai-prices",
            "provider": self.provider.id,
            "listed_as": self.model.id,
        }


def _listed(model: str, provider_hint: str | None) -> _Rate | None:
    from agentdyno.extras import has_extra

    if not has_extra("prices"):
        return None
    is_address = provider_hint is not None and "://" in provider_hint
    try:
        provider, found = _list().find_provider_model(
            model, None, None if is_address else provider_hint, provider_hint if is_address else None
        )
    except LookupError:
        return None
    return _Listed(provider, found)


@cache
def _list() -> DataSnapshot:
    """The data inside the installed package, whatever else in this process may have updated its own copy."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)


def _per_call(prices: ModelPrice) -> Decimal:
    """Dollars for a call as such, which a few providers ask besides the tokens."""
    thousand = prices.requests_kcount
    return thousand / 1000 if isinstance(thousand, Decimal) else Decimal(0)


def _shown(prices: ModelPrice, name: str) -> object:
    """A price per million; one that depends on the input's length as its steps, by the length they start at."""
    value = getattr(prices, name)
    if value is None:
        return None
    if isinstance(value, Decimal):
        return float(value)
    return {"0": float(value.base), **{str(tier.start): float(tier.price) for tier in value.tiers}}


def _exact(number: float) -> Decimal:
    """The decimal that a person wrote, without the error of its binary form."""
    return Decimal(str(number))
