"""Agents that yield their answer piece by piece: stamped as the pieces come, and joined. Standard library only."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import AsyncGeneratorType, GeneratorType

from agentdyno.agents.hosting.answer import OUTPUT_LIMIT_BYTES, output_too_large, response_in
from agentdyno.agents.hosting.recorder import Recorder
from agentdyno.contracts import CaseFailed
from agentdyno.model.sample import FailureKind, Status
from agentdyno.wire.timing import measure

_MOST_PIECES = 1_000_000
_NOT_TEXT_BYTES = 64
"""What a piece counts as that is no text, while an answer is still coming."""


def joined(returned: object, recorder: Recorder | None, sent_ns: int, clock: Callable[[], int]) -> object:
    """All pieces of a generator as one answer; of an async one, and of what is still awaited, something to wait for.

    Pieces of text are joined; of others the last one is the answer where it is a ``Response``, else they are a list.
    ``recorder`` is told the time from ``sent_ns`` to the first piece with content, and between such pieces. ``clock``
    is that from before the agent's code was loaded.
    """
    pieces = AnswerPieces(recorder, sent_ns, clock)
    if isinstance(returned, GeneratorType):
        return pieces.all_of(returned)
    if isinstance(returned, AsyncGeneratorType):
        return pieces.all_of_async(returned)
    return pieces.awaited(returned) if isinstance(returned, Awaitable) else returned


class AnswerPieces:
    """The pieces of one answer, each stamped as it comes."""

    def __init__(self, recorder: Recorder | None, sent_ns: int, clock: Callable[[], int]) -> None:
        self._recorder = recorder
        self._clock = clock
        self._sent_ns = sent_ns
        self._came_ns: list[int] = []
        self._pieces: list[object] = []
        self._size = 0

    def all_of(self, generator: Generator[object]) -> object:
        try:
            for piece in generator:
                self._add(piece)
        finally:
            generator.close()
            self._tell()
        return self._joined()

    async def all_of_async(self, generator: AsyncGenerator[object]) -> object:
        try:
            async for piece in generator:
                self._add(piece)
        finally:
            self._tell()
            await generator.aclose()
        return self._joined()

    async def awaited(self, waiting: Awaitable[object]) -> object:
        """What an async function returned, which may have made a generator."""
        returned = await waiting
        if isinstance(returned, AsyncGeneratorType):
            return await self.all_of_async(returned)
        return self.all_of(returned) if isinstance(returned, GeneratorType) else returned

    def _add(self, piece: object) -> None:
        now_ns = self._clock()
        if piece is None or (isinstance(piece, (str, bytes)) and not piece):
            return  # a sign of life
        if response_in(piece) is None:
            self._came_ns.append(now_ns)
        self._pieces.append(piece)
        self._size += len(piece) if isinstance(piece, (str, bytes)) else _NOT_TEXT_BYTES
        if self._size > OUTPUT_LIMIT_BYTES:
            raise output_too_large()
        if len(self._pieces) > _MOST_PIECES:
            message = f"the answer has more than {_MOST_PIECES:,} pieces"
            raise CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT)

    def _joined(self) -> object:
        pieces = self._pieces
        if pieces and response_in(pieces[-1]) is not None:
            return pieces[-1]
        if all(isinstance(piece, str) for piece in pieces):
            return "".join(map(str, pieces))
        if all(isinstance(piece, bytes) for piece in pieces):
            return b"".join(piece for piece in pieces if isinstance(piece, bytes))
        return pieces

    def _tell(self) -> None:
        if self._recorder is not None:
            self._recorder.measured.update(measure(self._sent_ns, self._came_ns).readings())
