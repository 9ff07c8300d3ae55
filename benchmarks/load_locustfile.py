"""The user of Locust that benchmarks/load.py starts: a chat request, again and again, read whole (its fastest)."""

from __future__ import annotations

from locust import FastHttpUser, constant, task  # type: ignore[import-not-found]

BODY = {
    "model": "canned",
    "messages": [{"role": "user", "content": "Say sixteen words, please, one after the other."}],
    "stream": True,
    "stream_options": {"include_usage": True},
}


class Chat(FastHttpUser):  # type: ignore[misc]
    wait_time = constant(0)

    @task
    def ask(self) -> None:
        with self.client.post("/v1/chat/completions", json=BODY, catch_response=True) as answer:
            if answer.text.count('"content":"') < 16:
                answer.failure("cut off")
