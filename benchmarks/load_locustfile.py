"""The user of Locust that benchmarks/load.py starts: a streamed chat request, again and again, read to its end."""

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
        with self.client.post("/v1/chat/completions", json=BODY, stream=True, catch_response=True) as answer:
            tokens = sum(1 for line in answer.iter_lines() if '"content":"' in str(line))
            if tokens < 16:
                answer.failure("cut off")
