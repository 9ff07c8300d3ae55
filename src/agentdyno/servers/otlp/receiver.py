"""An OTLP/HTTP receiver on the loopback interface, in threads of this process: not there while anything is timed.

Traces in protobuf or JSON, plain or gzip, at ``/v1/traces``; metrics and logs are accepted and forgotten, so that
exporters do not complain. What cannot be read is a 4xx, and the exporter's affair.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agentdyno.servers.otlp.document import TraceSpan, spans_of
from agentdyno.servers.otlp.protobuf import BadTrace, decode_request

MOST_BYTES = 32 * 1024 * 1024
"""Of one request, unpacked."""
PROTOBUF, JSON = "application/x-protobuf", "application/json"
_IGNORED = ("/v1/metrics", "/v1/logs")
_PATIENCE_S = 10.0


class RefusedExport(Exception):
    """A request that is answered with a status of 4xx."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class ReceiverCounts:
    """Requests with traces, requests that were refused, and spans, since the start."""

    requests: int
    refused: int
    spans: int


class OtlpReceiver:
    """``with OtlpReceiver() as receiver``: ``receiver.url`` is what exporters are told."""

    def __init__(self) -> None:
        self._spans: list[TraceSpan] = []
        self._requests = self._refused = self._total = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="dyno-otlp", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def counts(self) -> ReceiverCounts:
        with self._lock:
            return ReceiverCounts(self._requests, self._refused, self._total)

    def __enter__(self) -> OtlpReceiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """More than once is fine."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def take(self, wanted: Callable[[TraceSpan], bool]) -> list[TraceSpan]:
        """The spans that have arrived and are wanted; they are handed out once."""
        with self._lock:
            found = [span for span in self._spans if wanted(span)]
            self._spans = [span for span in self._spans if not wanted(span)]
        return found

    def receive(self, path: str, kind: str, encoding: str, body: bytes) -> None:
        """One request; raises ``RefusedExport``."""
        try:
            if path in _IGNORED:
                return
            if path != "/v1/traces":
                raise RefusedExport(404, "traces are taken at /v1/traces")
            spans = _read(kind, _unpacked(encoding, body))
        except RefusedExport:
            with self._lock:
                self._refused += 1
            raise
        with self._lock:
            self._requests += 1
            self._total += len(spans)
            self._spans += spans


def _read(kind: str, body: bytes) -> list[TraceSpan]:
    try:
        if kind == PROTOBUF:
            return spans_of(decode_request(body))
        if kind == JSON:
            return spans_of(json.loads(body))
    except BadTrace as error:
        raise RefusedExport(400, str(error)) from None
    except (ValueError, RecursionError) as error:
        raise RefusedExport(400, f"no JSON that can be read: {type(error).__name__}") from None
    raise RefusedExport(415, f"the content type is {kind!r}; {PROTOBUF} and {JSON} are taken")


def _unpacked(encoding: str, body: bytes) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise RefusedExport(415, f"the content encoding is {encoding!r}; gzip is taken")
    packed = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, as the first bytes say
    try:
        plain = packed.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise RefusedExport(400, f"no {encoding}: {error}") from None
    if len(plain) > MOST_BYTES:
        raise RefusedExport(413, f"more than {MOST_BYTES:,} bytes")
    if not packed.eof:
        raise RefusedExport(400, f"the {encoding} ends too early")
    return plain


def _handler_of(receiver: OtlpReceiver) -> type[BaseHTTPRequestHandler]:
    class OtlpHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _PATIENCE_S

        def do_POST(self) -> None:
            kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            encoding = self.headers.get("Content-Encoding", "").strip().lower()
            try:
                body = self._body()
                receiver.receive(self.path.partition("?")[0], kind, encoding, body)
            except RefusedExport as refused:
                self.close_connection = True
                self._answer(refused.status, JSON, json.dumps({"message": refused.message}).encode())
            except (OSError, TimeoutError):
                self.close_connection = True
            else:
                self._answer(200, kind or JSON, b"" if kind == PROTOBUF else b"{}")

        def do_GET(self) -> None:
            self._answer(405, JSON, b'{"message": "POST traces to /v1/traces"}')

        def _body(self) -> bytes:
            length = self.headers.get("Content-Length")
            if length is None:
                raise RefusedExport(411, "the length of the body is not said")
            if not length.strip().isdecimal():
                raise RefusedExport(400, f"the length of the body is {length[:40]!r}")
            size = int(length)
            if size > MOST_BYTES:
                raise RefusedExport(413, f"more than {MOST_BYTES:,} bytes")
            body = self.rfile.read(size)
            if len(body) < size:
                raise RefusedExport(400, f"{len(body):,} bytes of {size:,} arrived")
            return body

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the other side has gone

        def log_message(self, format: str, *args: object) -> None:
            """Silent: what is refused is counted."""

    return OtlpHandler
