"""The model that is put on the bench: where it is served, with which options, and how it is unloaded."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentdyno import ChatModel, ChatReply, LocalModel, RunError, SpecError

OLLAMA_URL = "http://localhost:11434"
OPTIONS = ("num_gpu", "num_ctx", "temperature", "top_p", "top_k", "repeat_penalty")
"""The six that are compared: GPU layers, context window in tokens, and four of sampling."""
OF_THE_SERVER = ("num_gpu", "num_ctx")
"""What an endpoint with OpenAI's protocol is started with and cannot be told in a request."""
_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """A model by its protocol (``ollama``, ``openai`` or ``local``), its place and its name."""

    protocol: str
    url: str
    model: str
    api_key_env: str | None = None


def options_by_name(
    num_gpu: int | None,
    num_ctx: int | None,
    temperature: float | None,
    top_p: float | None,
    top_k: int | None,
    repeat_penalty: float | None,
) -> dict[str, float | None]:
    """The values of ``OPTIONS`` as an experiment has them among its parameters; ``None`` where the server decides."""
    return dict(zip(OPTIONS, (num_gpu, num_ctx, temperature, top_p, top_k, repeat_penalty), strict=True))


def choose(agent: str, url: str = "", api_key_env: str = "") -> ServerChoice:
    """``local`` (the bundled model), ``ollama:NAME``, ``openai:NAME`` with a ``url``, or such a server's URL."""
    key = api_key_env or None
    if agent == "local":
        return ServerChoice("local", "", "")
    protocol, colon, name = agent.partition(":")
    if protocol == "ollama" and colon and name:
        return ServerChoice("ollama", url or OLLAMA_URL, name, key)
    if protocol == "openai" and colon and name:
        if not url:
            raise SpecError("openai:… needs the address of its server", where="params.url", remedy="Add -p url=URL.")
        return ServerChoice("openai", url, name, key)
    if agent.startswith(("http://", "https://")):
        return ServerChoice("openai", agent, "", key)
    raise SpecError(
        f"{agent!r} names no model",
        where="params.agent",
        remedy="Write local, ollama:NAME, openai:NAME with -p url=URL, or http://127.0.0.1:8080/v1.",
    )


@dataclass(slots=True)
class Serving:
    """One model, ready to be asked. A local one is started here and ended with ``close``.

    ``options`` are those of ``OPTIONS`` that are not ``None``. ``cpus`` are the cores that a local server may use.
    """

    choice: ServerChoice
    options: Mapping[str, float] = field(default_factory=dict)
    slots: int = 1
    max_tokens: int = 64
    cpus: tuple[int, ...] = ()
    start_s: float | None = None
    _local: LocalModel | None = None
    _model: ChatModel | None = None

    def open(self) -> None:
        """Starts what has to be started; refuses options that the server would silently ignore."""
        foreign = [name for name in OF_THE_SERVER if name in self.options]
        if self.choice.protocol == "openai" and foreign:
            raise SpecError(
                f"a server with OpenAI's protocol takes no {' and no '.join(foreign)}",
                where=f"params.{foreign[0]}",
                remedy="Start the server with it, or use ollama:NAME or local.",
            )
        if self.choice.protocol == "local":
            self._start_local()
        self._model = self._client()
        if self.choice.protocol == "openai" and not self.choice.model:
            names = asyncio.run(self._named())
            self.choice = replace(self.choice, model=names[0] if names else "")
            self._model = self._client()

    def close(self) -> None:
        if self._local is not None:
            self._local.stop()
            self._local = None

    @property
    def url(self) -> str:
        return self._local.url if self._local is not None else self.choice.url

    @property
    def pid(self) -> int | None:
        """The local server's process."""
        return self._local.pid if self._local is not None else None

    @property
    def model_name(self) -> str:
        return self._local.model if self._local is not None else self.choice.model

    async def ask(self, messages: str) -> ChatReply:
        if self._model is None:
            raise RunError("the model is not open")
        return await self._model.chat(messages)

    async def forget(self) -> None:
        """Closes connections, which belong to the event loop that made them."""
        if self._model is not None:
            await self._model.close()

    def unload(self) -> None:
        """The next answer starts cold: Ollama is told to drop the model, a local server is started anew.

        Raises ``RunError`` where Ollama does not do so, or does not say which models it has: then nobody knows
        whether the answer starts cold.
        """
        if self.choice.protocol == "local":
            self.close()
            self._start_local()
            self._model = self._client()
        elif self.choice.protocol == "ollama":
            told = self._post("/api/generate", {"model": self.choice.model, "keep_alive": 0})
            if told is None or told.get("done") is not True:
                raise self._not_cold("does not answer to being told to unload its model")
            self._wait_until_unloaded()
        else:
            raise SpecError(
                "a server with OpenAI's protocol cannot be told to unload its model",
                where="params.cold",
                remedy="Use ollama:NAME or local, or leave cold out.",
            )

    def is_loaded(self) -> bool | None:
        """Whether Ollama has the model in memory; ``None`` where the server does not say."""
        row = self._loaded_row()
        return None if row is None else bool(row)

    def observed(self) -> dict[str, object]:
        """What the server says of itself: the context it has, where it runs. Nothing where it does not say."""
        if self.choice.protocol == "ollama":
            row = self._loaded_row() or {}
            shown = {"context_length": "num_ctx", "size_vram": "vram_bytes", "size": "model_bytes"}
            return {ours: row[theirs] for theirs, ours in shown.items() if theirs in row}
        if self.choice.protocol == "local":
            props = self._get(self.url.removesuffix("/v1") + "/props") or {}
            settings = props.get("default_generation_settings")
            found = settings.get("n_ctx") if isinstance(settings, dict) else None
            return {"num_ctx": found} if found is not None else {}
        return {}

    async def _named(self) -> tuple[str, ...]:
        """The models that the server offers; none where it does not say."""
        if self._model is None:
            return ()
        names = await self._model.models()
        await self._model.close()
        return names

    def _start_local(self) -> None:
        if self.options.get("num_gpu"):
            raise SpecError(
                "the bundled llama.cpp is built without a GPU",
                where="params.num_gpu",
                remedy="Leave num_gpu out or at 0, or use ollama:NAME.",
            )
        began = time.perf_counter()
        context = int(self.options.get("num_ctx", 4096))
        self._local = LocalModel(parallel=self.slots, context=context, threads=1, cpus=self.cpus)
        self._local.start()
        self.start_s = time.perf_counter() - began

    def _client(self) -> ChatModel:
        chosen = dict(self.options)
        if self.choice.protocol == "ollama":
            return ChatModel(
                self.choice.url,
                self.choice.model,
                api_key_env=self.choice.api_key_env,
                dialect="ollama",
                options={**chosen, "num_predict": self.max_tokens},
            )
        for name in OF_THE_SERVER:
            chosen.pop(name, None)
        return ChatModel(
            self.url,
            self.model_name,
            api_key_env=self.choice.api_key_env,
            options={**chosen, "max_tokens": self.max_tokens},
        )

    def _wait_until_unloaded(self) -> None:
        deadline = time.monotonic() + _WAIT_S
        while (row := self._loaded_row()) != {}:
            if row is None:
                raise self._not_cold("does not say which models it has loaded (/api/ps)")
            if time.monotonic() > deadline:
                raise RunError(f"Ollama keeps {self.choice.model} loaded", where=self.choice.url)
            time.sleep(0.02)

    def _not_cold(self, why: str) -> RunError:
        return RunError(
            f"the server {why}: whether an answer starts cold is not known",
            where=self.choice.url,
            remedy="Leave cold out, or use a server with Ollama's /api/generate and /api/ps.",
        )

    def _loaded_row(self) -> dict[str, object] | None:
        """What the server says of the model; empty where it is not loaded, ``None`` where it does not say."""
        told = self._get(f"{self.choice.url}/api/ps")
        rows = None if told is None else told.get("models")
        if rows is None:
            return None
        wanted = _without_tag(self.choice.model)
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and _without_tag(str(row.get("name", ""))) == wanted:
                return row
        return {}

    def _post(self, path: str, body: Mapping[str, object]) -> dict[str, object] | None:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.choice.url + path, data, {"Content-Type": "application/json"})
        return self._answer(request)

    def _get(self, url: str) -> dict[str, object] | None:
        return self._answer(urllib.request.Request(url))

    def _answer(self, request: urllib.request.Request) -> dict[str, object] | None:
        """A JSON object; ``None`` where the server knows no such path."""
        try:
            with urllib.request.urlopen(request, timeout=_WAIT_S) as reply:
                value = json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code in (404, 405, 501):
                return None
            raise RunError(f"the server answers {error.code}", where=request.full_url) from None
        except (OSError, ValueError) as error:
            raise RunError(
                f"the server does not answer: {error}", where=request.full_url, remedy="Is it running?"
            ) from None
        return value if isinstance(value, dict) else {}


def _without_tag(name: str) -> str:
    return name.removesuffix(":latest")


def ask_once(serving: Serving, messages: str) -> tuple[ChatReply, float]:
    """The answer, and the seconds until it was complete; its connection is closed again."""

    async def ask() -> tuple[ChatReply, float]:
        began = time.perf_counter()
        reply = await serving.ask(messages)
        took_s = time.perf_counter() - began
        await serving.forget()
        return reply, took_s

    return asyncio.run(ask())
