"""Ray as it has to be started and reached: lazily, without telemetry, and never without a token."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from agentdyno.errors import RunError, SpecError
from agentdyno.extras import need_extra
from agentdyno.runs.kind import RAY_SCHEME

ALWAYS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_AUTH_MODE": "token",
}
"""No telemetry; no environment of uv's in place of ours; and ports that only those with the token can use: whoever
reaches them could run code."""
TOKEN, TOKEN_PATH, ADDRESS = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"
ANSWER_S = 5.0
"""How long an address may take to answer at all."""


class RayConnection:
    """A connection to a cluster, made by ``open``: to that of ``executor``, else to that of ``RAY_ADDRESS``, else to
    one of this machine's own, which ends with it. ``option`` is what the user named it with."""

    def __init__(
        self, executor: str, environ: MutableMapping[str, str] = os.environ, *, option: str = "--executor"
    ) -> None:
        self._environ, self._option = environ, option
        self._client = executor if executor.startswith(RAY_SCHEME) else ""
        self.address = self._client or environ.get(ADDRESS, "")
        self._opened = False
        self._generated = False

    @property
    def name(self) -> str:
        return self.address or "the cluster of this machine"

    def open(self) -> ModuleType:
        """Ray itself, connected. Raises ``RunError`` in one sentence where that cannot be."""
        need_extra("ray", "a cluster", where=self._option)
        self._environ.update(ALWAYS)
        if not _has_token(self._environ):
            if self.address:
                raise RunError(
                    f"no token for {self.name}: whoever reaches an open cluster can run code on it",
                    where=self._option,
                    remedy=f"Set {TOKEN}, or {TOKEN_PATH} to a file, to the token that the cluster was started with.",
                )
            self._environ[TOKEN] = secrets.token_hex(32)
            self._generated = True
        if self.address:
            self._check_answers()
        with _silence():
            import ray

        if ray.is_initialized():
            return ray
        quiet: dict[str, Any] = {
            "log_to_driver": False,
            "logging_level": logging.CRITICAL,
            "configure_logging": False,
        }
        if not self.address:
            quiet |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            with _silence(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it warns of is an error a moment later
                ray.init(self.address or "local", **quiet)
        except Exception as error:  # noqa: BLE001  (Ray has a dozen kinds for this)
            self.close()
            raise explained(error, self.name, self._option) from None
        self._opened = True
        return ray

    def close(self) -> None:
        if self._opened:
            import ray

            self._opened = False
            ray.shutdown()
        if self._generated:
            self._generated = False
            self._environ.pop(TOKEN, None)

    def _check_answers(self) -> None:
        host, _, port = self.address.removeprefix(RAY_SCHEME).rpartition(":")
        if not host or not port.isdigit():
            raise SpecError(
                f"{self.address} is no address", where=self._option, remedy="Give ray://HOST:PORT (Ray's is 10001)."
            )
        try:
            socket.create_connection((host, int(port)), ANSWER_S).close()
        except OSError as error:
            raise RunError(
                f"nothing answers at {self.address}: {error.strerror or error}",
                where=self._option,
                remedy="Check the address and whether `ray start --head` runs there.",
            ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Ray's libraries write what they think of an address or a token to standard error, again and again."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _has_token(environ: MutableMapping[str, str]) -> bool:
    if environ.get(TOKEN, "").strip():
        return True
    path = Path(environ.get(TOKEN_PATH) or Path.home() / ".ray" / "auth_token")
    return path.is_file() and bool(path.read_text().strip())


def explained(error: Exception, cluster: str, option: str) -> RunError:
    """What Ray says, in one sentence with a remedy."""
    text = " ".join(str(error).split())
    low = text.lower()
    if isinstance(error, ConnectionError) or "token" in low or "unauthenticated" in low:
        return RunError(
            f"{cluster} answers, and does not let us in: the token is not that of the cluster, or no Ray is there",
            where=option,
            remedy=f"Set {TOKEN} to the token that the cluster was started with.",
        )
    if "version mismatch" in low or "python:" in low or "different version" in low:
        return RunError(
            f"{cluster} has another version of Python or Ray: {text[:300]}",
            where=option,
            remedy="Use the same versions of Python, ray and agentdyno on all machines.",
        )
    return RunError(f"cannot work with {cluster}: {type(error).__name__}: {text[:300]}", where=option)
