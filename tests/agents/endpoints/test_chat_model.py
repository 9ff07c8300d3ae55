"""The client for agents of one's own."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agentdyno.agents.endpoints.chat_model import ChatModel, ToolCall
from agentdyno.agents.hosting.recorder import recording
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Usage
from agentdyno.model.sample import FailureKind
from agentdyno.wire.errors import Unsendable

from ...wire.script_server import CLOSE, LAST_CHUNK, ScriptServer, json_response, sse_event, stream_head
from ..streams import delta, openai_stream


def test_a_call_gives_text_usage_model_and_readings_and_records_itself() -> None:
    async def main() -> None:
        async with ScriptServer(openai_stream("Hel", "lo")) as server:
            with recording() as recorder:
                model = ChatModel(server.url + "/v1", "m", options={"temperature": 0})
                reply = await model.chat("hi", options={"max_tokens": 9})
                await model.close()
        assert (reply.text, reply.usage, reply.model, reply.finish_reason) == ("Hello", Usage(5, 2), "m-2024", "stop")
        assert reply.observed == {"model": "m-2024", "system_fingerprint": "fp-1"}
        assert {"ttft_s", "itl_s", "server.prompt_eval_s", "server.eval_s"} <= set(reply.readings)
        assert (reply.readings["server.prompt_eval_s"], reply.simulated) == (0.012, False)
        sent = server.requests[0].json
        assert (sent["messages"], sent["temperature"], sent["max_tokens"]) == (
            [{"role": "user", "content": "hi"}],
            0,
            9,
        )
        assert "authorization" not in server.requests[0].headers

        response = recorder.response(reply.text)
        assert (response.api_calls, response.usage, response.model) == (1, Usage(5, 2), "m-2024")
        assert response.observed == reply.observed
        assert response.readings == reply.readings
        assert [(event.kind, event.name, event.content) for event in response.events] == [
            ("model_call", "m-2024", None),
            ("message", "assistant", "Hello"),
        ]

    asyncio.run(main())


def test_calls_of_one_case_add_up() -> None:
    async def main() -> None:
        async with ScriptServer(openai_stream("a"), openai_stream("b", "c")) as server:
            with recording() as recorder:
                model = ChatModel(server.url)
                await asyncio.gather(model.chat("1"), model.chat("2"))
        assert (recorder.api_calls, recorder.usage) == (2, Usage(10, 3))

    asyncio.run(main())


def test_tool_calls_and_the_tools_themselves_go_through() -> None:
    function = {"name": "add", "arguments": '{"a": 1}'}
    call = delta({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}, "tool_calls")

    async def main() -> None:
        async with ScriptServer((stream_head(), call, LAST_CHUNK)) as server:
            tools = [{"type": "function", "function": {"name": "add"}}]
            reply = await ChatModel(server.url).chat([{"role": "user", "content": "1+1"}], tools=tools)
            assert server.requests[0].json["tools"] == tools
        assert (reply.text, reply.tool_calls) == ("", (ToolCall("c1", "add", {"a": 1}),))

    asyncio.run(main())


def test_a_key_is_sent_and_never_repeated() -> None:
    async def main() -> CaseFailed:
        refusal = json_response({"error": {"message": "wrong key: sk-secret"}}, status="401 Unauthorized")
        async with ScriptServer((refusal,)) as server:
            model = ChatModel(server.url, api_key_env="MY_KEY", environ={"MY_KEY": "sk-secret\n"})
            with pytest.raises(CaseFailed) as failed:
                await model.chat("hi")
            assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
        return failed.value

    failed = asyncio.run(main())
    assert failed.fatal
    assert "sk-secret" not in failed.message
    assert "MY_KEY" in failed.remedy


def test_a_broken_stream_counts_as_a_call_and_keeps_what_came() -> None:
    async def main() -> None:
        async with ScriptServer(openai_stream("first"), (stream_head(), delta({"content": "sec"}), CLOSE)) as server:
            with recording() as recorder:
                model = ChatModel(server.url)
                await model.chat("1")
                with pytest.raises(CaseFailed) as failed:
                    await model.chat("2")
        assert (failed.value.kind, failed.value.retryable) == (FailureKind.TRUNCATED, True)
        assert failed.value.response is not None
        assert (failed.value.response.output, failed.value.response.api_calls) == ("sec", 2)
        assert recorder.api_calls == 2

    asyncio.run(main())


def test_garbage_in_a_stream_is_a_stream_error() -> None:
    async def main() -> None:
        async with ScriptServer((stream_head(), delta({"content": "so"}), sse_event(b"{oops"), LAST_CHUNK)) as server:
            with pytest.raises(CaseFailed, match="not JSON") as failed:
                await ChatModel(server.url).chat("hi")
        assert failed.value.kind is FailureKind.STREAM_ERROR
        assert failed.value.response is not None
        assert failed.value.response.output == "so"

    asyncio.run(main())


def test_a_bad_url_is_refused_when_it_is_written() -> None:
    with pytest.raises(Unsendable):
        ChatModel("localhost:8080/v1")


def test_what_cannot_be_sent_fails_the_case_alone() -> None:
    async def main() -> None:
        with pytest.raises(CaseFailed) as failed:
            await ChatModel("http://127.0.0.1:9").chat([{"role": "user", "content": float("nan")}])
        assert (failed.value.kind, failed.value.fatal) == (FailureKind.SERIALISATION, False)

    asyncio.run(main())


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.wfile.write(b"".join(step for step in openai_stream("sync") if isinstance(step, bytes)))

    def log_message(self, format: str, *args: object) -> None: ...


def test_functions_that_are_not_async_can_ask_from_several_threads() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            model = ChatModel(f"http://127.0.0.1:{server.server_port}/v1", "m")
            replies: list[str] = []
            threads = [threading.Thread(target=lambda: replies.append(model.ask("hi").text)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with recording() as recorder:
                assert model.ask("hi").text == "sync"
        finally:
            server.shutdown()
            serving.join()
    assert replies == ["sync"] * 4
    assert recorder.api_calls == 1


def test_asking_inside_an_event_loop_says_what_to_use_instead() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match=r"await model\.chat"):
            ChatModel("http://localhost:1").ask("hi")

    asyncio.run(main())
