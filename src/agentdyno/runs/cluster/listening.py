"""A worker that listens: whoever shows its token gets a load client on this machine."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping

from agentdyno.errors import RunError, SpecError
from agentdyno.load.clients.handshake import admit, clients_token
from agentdyno.runs.cluster.client_keeper import ClientKeeper

_LOOK_S = 0.3
OPTION = "--listen"


class ClientListener:
    """Listens from the start; ``serve`` admits those who come. ``address`` is where."""

    def __init__(
        self, address: str, environ: Mapping[str, str] = os.environ, say: Callable[[str], None] = lambda _: None
    ) -> None:
        host, port = split_address(address, OPTION)
        self._token, self._environ, self._say = clients_token(environ, OPTION), environ, say
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listener = socket.create_server((host, port), family=family)
        except OSError as error:
            raise RunError(f"cannot listen at {address}: {error.strerror or error}", where=OPTION) from None
        self._listener.settimeout(_LOOK_S)
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        self._ends: set[socket.socket] = set()

    def serve(self, stop: threading.Event) -> int:
        """Until ``stop`` is set; clients that work then are ended. How many have come."""
        count = 0
        threads: list[threading.Thread] = []
        try:
            while not stop.is_set():
                try:
                    end, peer = self._listener.accept()
                except TimeoutError:
                    continue
                count += 1
                self._ends.add(end)
                thread = threading.Thread(target=self._keep, args=(end, f"{peer[0]}:{peer[1]}"), daemon=True)
                thread.start()
                threads = [*(one for one in threads if one.is_alive()), thread]
        finally:
            self._listener.close()
            for end in list(self._ends):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # it is gone already
            for thread in threads:
                thread.join(5.0)
        return count

    def _keep(self, end: socket.socket, peer: str) -> None:
        try:
            if not admit(end, self._token):
                self._say(f"{peer} was sent away: its token is another.")
                return
            self._say(f"{peer} has a client here.")
            ClientKeeper(end, self._environ).serve()
            self._say(f"{peer} has left.")
        except OSError as error:
            self._say(f"{peer} was lost: {error.strerror or error}")
        finally:
            self._ends.discard(end)
            end.close()


def split_address(address: str, option: str) -> tuple[str, int]:
    """HOST and PORT; a port alone is one of this machine's own. Raises ``SpecError``."""
    host, _, port = address.strip().rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise SpecError(f"{address!r} is no address", where=option, remedy="Give HOST:PORT, as in 10.0.0.1:7700.")
    return host.strip("[]") or "127.0.0.1", int(port)
