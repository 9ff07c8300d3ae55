"""The calls of journeys to an endpoint: over the connections of one client, with its stamps."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns

from agentdyno.load.client.backlog import AnyDecoder, Backlog, Item
from agentdyno.load.client.decode import OK
from agentdyno.load.client.hot import ExchangeEnding
from agentdyno.load.client.sender import Sender
from agentdyno.load.journeys.client import AskedCall, EndedJourneyCall, JourneyAnswer
from agentdyno.load.plan.orders import JourneyOrder
from agentdyno.load.plan.requests import RequestEncoder
from agentdyno.load.windows.records import OUTCOME_CODES, OUTCOMES
from agentdyno.model.load import Outcome

_NS = 1_000_000_000


class EndpointCalls:
    """Calls that have ended are kept until the journey has judged them; then the backlog makes rows of them."""

    def __init__(self, sender: Sender, backlog: Backlog, decoder: AnyDecoder, order: JourneyOrder) -> None:
        self._loop = asyncio.get_running_loop()
        self._sender, self._backlog, self._decoder = sender, backlog, decoder
        self._encoder = RequestEncoder(order.target, order.options, key=order.key)
        self._kept: dict[int, Item] = {}
        self._count = 0

    def call(self, asked: AskedCall, due_ns: int) -> asyncio.Future[EndedJourneyCall]:
        future: asyncio.Future[EndedJourneyCall] = self._loop.create_future()
        if asked.method:
            data = self._encoder.encode_call(asked.method, asked.path, asked.content, asked.headers)
        else:
            data = self._encoder.encode_input(asked.content, asked.output_tokens)

        def ended(item: Item | None) -> None:
            if item is None:
                future.cancel()
            elif future.done():  # the journey is gone
                self._backlog.add(item)
            else:
                future.set_result(self._ended(item))

        self._sender.ask(data, due_ns, ended)
        return future

    def settle(self, key: int, problem: str) -> None:
        item = self._kept.pop(key)
        if problem:
            item = (*item[:6], ExchangeEnding.SPOILED, item[7], problem, *item[9:])
        self._backlog.add(item)

    def fail(self, due_ns: int, problem: str) -> None:
        self._backlog.add_failed(min(due_ns, perf_counter_ns()), OUTCOME_CODES[Outcome.CHECK_FAILED], problem)

    def earliest(self) -> tuple[int | None, int | None]:
        """When the earliest of those that are not judged yet was due, and was done."""
        dues, dones = [item[0] for item in self._kept.values()], [item[2] for item in self._kept.values()]
        return min(dues, default=None), min(dones, default=None)

    def _ended(self, item: Item) -> EndedJourneyCall:
        due, sent, done, ending, reads, text = item[0], item[1], item[2], item[6], item[7], item[8]
        outcome, status, first, _, chunks, _, _, _, _, why, _ = self._decoder.decode(reads, ending, done)
        self._count += 1
        self._kept[self._count] = item
        answer = JourneyAnswer(
            self._decoder.text(reads) if outcome == OK else "",
            status,
            (done - due) / _NS,
            (first - sent) / _NS if chunks else None,
        )
        return EndedJourneyCall(self._count, OUTCOMES[outcome], text or why, answer, done)
