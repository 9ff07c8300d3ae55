"""Recorded conversations held again: each is a journey whose turns wait for the answers of this target."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.load.journeys.client import JourneyClient
from agentdyno.load.plan.conversations import RecordedConversations


class Replay:
    """Journey ``number`` is conversation ``number``. A turn holds all that was said before it, the target's own
    answers among it; where the target takes no messages (``chat`` is not set), what is new alone. A conversation ends
    where a turn fails: there is nothing to reply to."""

    def __init__(self, conversations: RecordedConversations, *, chat: bool = True) -> None:
        self._conversations, self._chat = conversations, chat

    async def __call__(self, client: JourneyClient) -> None:
        began_ns = client.due_ns
        messages: list[Mapping[str, object]] = []
        for number, turn in enumerate(self._conversations.turns[client.number]):
            if number:
                client.due_after(turn.pause_ns if turn.pause_ns >= 0 else began_ns + turn.at_ns - client.due_ns)
            messages.append({"role": "user", "content": turn.text})
            content = list(messages) if self._chat else turn.text
            answer = await client.ask(content, output_tokens=turn.output_tokens)
            messages.append({"role": "assistant", "content": answer.text})
