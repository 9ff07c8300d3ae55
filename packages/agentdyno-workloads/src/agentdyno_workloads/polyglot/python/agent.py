"""An agent that reads documents, has a model analyse them and has it write a report.

The twin of the programs in ../rust: same prompts, same options, same order of requests and lines, one connection a
request. It needs the standard library only, and speaks the line protocol of agentdyno on descriptors 3 and 4.
``--client httpx`` asks with httpx instead of plain asyncio streams, where that is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ANALYSE = "Name the two most urgent problems in these notes, one line each.\n\n"
REPORT = "Write a report of three sentences for a manager from this analysis:\n\n"
DIALECTS = ("openai", "ollama")
LONGEST_LINE = 1 << 24
Say = Callable[[dict[str, Any]], None]


class AgentProblem(Exception):
    """Why a case cannot be answered."""


@dataclass(frozen=True)
class CaseTask:
    """A case: a folder of documents or a text, and the model with its options."""

    notes: Path | str
    dialect: str
    url: str
    model: str
    options: dict[str, Any]
    key: str

    @classmethod
    def from_input(cls, config: dict[str, Any], asked: Any) -> CaseTask:
        """An object says ``documents`` or ``text``, ``url``, ``dialect``, ``model``, ``options``; any other input is
        the text. What it leaves out is that of the agent's configuration, then of the environment."""
        given = {**config, **asked} if isinstance(asked, dict) else dict(config)
        if not isinstance(asked, dict):
            given.pop("documents", None)
            given["text"] = asked if isinstance(asked, str) else json.dumps(asked)
        if "documents" not in given and "text" not in given:
            raise AgentProblem("the case names neither documents nor text")
        url, dialect = given.get("url"), given.get("dialect", "openai")
        if url is None:
            url, dialect = os.environ.get("OPENAI_BASE_URL"), "openai"
        if not url:
            url, dialect = os.environ.get("OLLAMA_HOST"), "ollama"
        if not url:
            raise AgentProblem("no model: give the case a url, or set OPENAI_BASE_URL or OLLAMA_HOST")
        if dialect not in DIALECTS:
            raise AgentProblem(f"{dialect!r} is no dialect; known are openai and ollama")
        return cls(
            Path(given["documents"]) if "documents" in given else given["text"],
            dialect,
            url.rstrip("/"),
            given.get("model") or os.environ.get("MODEL") or "default",
            dict(given.get("options") or {}),
            os.environ.get("OPENAI_API_KEY", ""),
        )

    def request(self, prompt: str) -> tuple[str, bytes]:
        """The path and the body of a question, byte by byte what the programs in Rust send."""
        path, body = self._question(prompt)
        return path, json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    def _question(self, prompt: str) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "stream": True,
        }
        options = dict(self.options)
        if self.dialect == "openai":
            return "/chat/completions", {**body, "stream_options": {"include_usage": True}, **options}
        if "max_tokens" in options:
            options["num_predict"] = options.pop("max_tokens")
        return "/api/chat", {**body, "options": options}

    def piece_of(self, line: str) -> str:
        """The content in one line of the stream; none in lines about other things."""
        data = line.strip()
        if self.dialect == "openai":
            if not data.startswith("data:"):
                return ""
            data = data.removeprefix("data:").strip()
        if not data or data == "[DONE]":
            return ""
        try:
            event = json.loads(data)
        except ValueError as error:
            raise AgentProblem(f"a broken answer: {error}") from None
        if "error" in event:
            raise AgentProblem(f"the model's server says: {json.dumps(event['error'])}")
        if self.dialect == "openai":
            choices = event.get("choices") or [{}]
            return choices[0].get("delta", {}).get("content") or ""
        return event.get("message", {}).get("content") or ""


class StreamsClient:
    """HTTP/1.1 on asyncio streams: as much of it as a model's server speaks."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise AgentProblem(f"{url}: only http:// is spoken here")
        self._url, self._netloc, self._base = url, parts.netloc, parts.path
        self._host, self._port = parts.hostname, parts.port or 80

    async def lines(self, path: str, body: bytes, key: str) -> AsyncIterator[str]:
        """The answer line by line; on a connection of its own, because some servers close it after a stream."""
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port, limit=LONGEST_LINE)
        except OSError as error:
            raise AgentProblem(f"{self._url}: {error}") from None
        try:
            async for line in self._exchange(reader, writer, path, body, key):
                yield line
        finally:
            writer.close()

    async def _exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        path: str,
        body: bytes,
        key: str,
    ) -> AsyncIterator[str]:
        head = [f"POST {self._base}{path} HTTP/1.1", f"host: {self._netloc}", "content-type: application/json"]
        head += [f"authorization: Bearer {key}"] if key else []
        head += [f"content-length: {len(body)}"]
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        status = int((await reader.readline()).split()[1])
        headers = {}
        while (line := await reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        held = b""
        async for part in _body(reader, headers):
            *lines, held = (held + part).split(b"\n")
            for line in lines:
                _check(status, line)
                yield line.decode(errors="replace")
        if held:
            _check(status, held)
            yield held.decode(errors="replace")
        _check(status, b"")


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> AsyncIterator[bytes]:
    if "chunked" in headers.get("transfer-encoding", ""):
        while size := int((await reader.readline()).split(b";")[0], 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)
        while (await reader.readline()).strip():
            pass
    elif "content-length" in headers:
        yield await reader.readexactly(int(headers["content-length"]))
    else:
        while data := await reader.read(1 << 16):
            yield data


@asynccontextmanager
async def streams_client(url: str) -> AsyncIterator[StreamsClient]:
    yield StreamsClient(url)


class HttpxClient:
    """The same with a library that most Python agents use."""

    def __init__(self, client: Any, url: str) -> None:
        self._client, self._url = client, url

    async def lines(self, path: str, body: bytes, key: str) -> AsyncIterator[str]:
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
        async with self._client.stream("POST", self._url + path, content=body, headers=headers) as answer:
            async for line in answer.aiter_lines():
                _check(answer.status_code, line.encode())
                yield line
            _check(answer.status_code, b"")


@asynccontextmanager
async def httpx_client(url: str) -> AsyncIterator[HttpxClient]:
    import httpx

    try:
        async with httpx.AsyncClient(timeout=None) as client:
            yield HttpxClient(client, url)
    except httpx.HTTPError as error:
        raise AgentProblem(f"{url}: {error}") from None


CLIENTS: dict[str, Callable[[str], Any]] = {"asyncio": streams_client, "httpx": httpx_client}


def _check(status: int, line: bytes) -> None:
    if status != 200:
        raise AgentProblem(f"the model's server answers {status}: {line.decode(errors='replace')}")


def read_documents(folder: Path) -> str:
    """Every text file of a folder, in the order of their names; none is an error."""
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise AgentProblem(f"{folder}: there is no .txt file to read")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


async def work(task: CaseTask, client: str, streamed: Callable[[str], None]) -> str:
    """The report. Both answers of the model are passed to ``streamed`` piece by piece, as they come."""
    notes = task.notes if isinstance(task.notes, str) else read_documents(task.notes)
    async with CLIENTS[client](task.url) as model:
        analysis = await _ask(task, model, ANALYSE + notes, streamed)
        return await _ask(task, model, REPORT + analysis, streamed)


async def _ask(task: CaseTask, model: Any, prompt: str, streamed: Callable[[str], None]) -> str:
    path, body = task.request(prompt)
    pieces = []
    async for line in model.lines(path, body, task.key):
        if piece := task.piece_of(line):
            streamed(piece)
            pieces.append(piece)
    if not pieces:
        raise AgentProblem("the model answered nothing")
    return "".join(pieces)


async def answer(config: dict[str, Any], asked: Any, number: Any, client: str, say: Say) -> None:
    try:
        report = await work(
            CaseTask.from_input(config, asked), client, lambda piece: say({"chunk": piece, "id": number})
        )
    except (AgentProblem, OSError, EOFError, ValueError, IndexError) as problem:
        say({"error": str(problem), "id": number})
    else:
        say({"ok": {"output": report, "observed": {"runtime": client}}, "id": number})


async def serve(agents: int, client: str) -> None:
    """Answers lines until the bench says close or goes away."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(3, "rb"))

    def say(message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        while data:
            data = data[os.write(4, data) :]

    config: dict[str, Any] = {}
    at_work: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if "hello" in message:
            config = message["hello"].get("config") or {}
            say({"ok": {"protocol": 1, "in_flight": agents}})
        elif "run" in message:
            asked, number = message["run"].get("input"), message.get("id")
            task = asyncio.create_task(answer(config, asked, number, client, say))
            at_work.add(task)
            task.add_done_callback(at_work.discard)
        elif "close" in message:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1, help="how many cases it takes at once")
    parser.add_argument("--client", choices=sorted(CLIENTS), default="asyncio")
    chosen = parser.parse_args()
    asyncio.run(serve(chosen.agents, chosen.client))
