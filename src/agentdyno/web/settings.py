"""What the service was started with."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.importers.inflated import ImportLimits
from agentdyno.settings.service import HOST, QUEUE_LIMIT, WORKERS

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """``folder`` is where ``dyno.yaml`` is looked for, upward. ``cors`` lists the origins whose pages may ask.

    ``keyless_read`` lets programs of this machine read without a key while none exists, and ``keyless_beside_keys``
    also where there are some. ``rate_per_minute`` requests
    of one key are answered, 0: any number. ``queue_limit`` jobs may wait. A request's body may have
    ``max_body_bytes`` (files to import ``max_import_bytes``, and ``import_limits`` unpacked) and take
    ``body_timeout_s`` seconds to arrive, its header ``header_timeout_s``. A stream of a job looks for changes every
    ``poll_s`` seconds and shows that it lives every ``ping_s``. ``static`` is the folder of the built dashboard,
    ``None``: the one of this package. An answer that is out of date is made anew in the background; whoever asks
    waits ``patience_s`` seconds for it at most, and gets the one from before then. ``warm_up`` makes the answer
    of the dashboard's first page at the start.
    """

    store_url: str
    folder: Path
    host: str = HOST.default
    workers: int = WORKERS.default
    cors: tuple[str, ...] = ()
    keyless_read: bool = True
    keyless_beside_keys: bool = False
    max_body_bytes: int = MIB
    max_import_bytes: int = 64 * MIB
    import_limits: ImportLimits = field(default_factory=ImportLimits)
    body_timeout_s: float = 30.0
    header_timeout_s: float = 15.0
    queue_limit: int = QUEUE_LIMIT.default
    rate_per_minute: int = 600
    poll_s: float = 0.5
    ping_s: float = 10.0
    static: Path | None = None
    patience_s: float = 0.03
    warm_up: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only programs of this machine can connect."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
