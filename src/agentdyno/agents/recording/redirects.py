"""Which variables of an agent's environment name a model's address, and the same environment with a proxy in between.

Only where a variable says where the model is does a proxy come in between unasked: a client that is told an address
where it had none may behave otherwise (some stop asking for tokens of streams).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from agentdyno.wire.address import Address


@dataclass(frozen=True, slots=True)
class ModelVariable:
    """A variable that says where a model is. ``default`` is where clients go without it, "" where they have another
    variable for that; ``keys`` are variables with the key for it."""

    name: str
    target: str
    default: str = ""
    keys: tuple[str, ...] = ()


VARIABLES = (
    ModelVariable("OPENAI_BASE_URL", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    ModelVariable("OPENAI_API_BASE", "openai-base"),
    ModelVariable(
        "ANTHROPIC_BASE_URL",
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    ModelVariable("OLLAMA_HOST", "ollama", "http://127.0.0.1:11434"),
    ModelVariable("OLLAMA_API_BASE", "ollama-base"),
)
OFF, AUTO, COUNTS, FULL = "off", "auto", "counts", "full"
"""What is kept of an agent's model calls."""
_OLLAMA_PORT = 11434
_NO_PROXY = ("NO_PROXY", "no_proxy")


@dataclass(frozen=True, slots=True)
class Redirect:
    """``variable`` named ``origin`` (scheme, host, port) with ``path`` behind it, known to a proxy as ``target``."""

    variable: str
    target: str
    origin: str
    path: str


def find_redirects(
    environ: Mapping[str, str], named: Collection[str] = (), *, asked: bool = False
) -> tuple[Redirect, ...]:
    """The variables that a proxy takes the place of, in ``environ`` as the agent sees it.

    That is each that is set; where the agent's own list of variables (``named``) has a model's key, the one that goes
    with it; and where recording was ``asked`` for, all that clients look at. What is reached through another HTTP
    proxy is left alone.
    """
    found = []
    for variable in VARIABLES:
        value = environ.get(variable.name, "").strip()
        has_key = any(key in named and environ.get(key) for key in variable.keys)
        if not value and (asked or has_key):
            value = variable.default
        address = _address(value) if value else None
        if address is not None and not _through_another(address, environ):
            origin = f"{address.scheme}://{address.netloc}"
            found.append(Redirect(variable.name, variable.target, origin, address.path))
    return tuple(found)


def redirected(
    environ: Mapping[str, str], redirects: tuple[Redirect, ...], url: Callable[[str, str], str]
) -> dict[str, str]:
    """The environment with addresses of the proxy, which ``url`` gives for a target and its path."""
    changed = dict(environ)
    for item in redirects:
        changed[item.variable] = url(item.target, item.path)
    if redirects and _proxies(environ):
        # The proxy is on this machine: another one must not be asked for it.
        for name in _NO_PROXY:
            before = environ.get(name, "")
            changed[name] = ",".join(filter(None, (before, "127.0.0.1")))
    return changed


def _address(value: str) -> Address | None:
    """Where a variable points; ``None`` for what is no address. Ollama's may lack a scheme and a port."""
    from agentdyno.wire.address import Address  # most agents have no such variable
    from agentdyno.wire.errors import WireError

    text = value if "://" in value else f"http://{value}"
    try:
        bare = "://" not in value and urlsplit(text).port is None
        address = Address.parse(text)
    except (WireError, ValueError):
        return None
    host = "127.0.0.1" if address.host in ("0.0.0.0", "::") else address.host  # where it listens
    port = _OLLAMA_PORT if bare else address.port
    return Address(address.scheme, host, port, address.path)


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """By scheme, as ``urllib`` knows them; ``no`` are the hosts that need none."""
    found = {}
    for name, value in environ.items():
        if name.lower().endswith("_proxy") and value:
            found[name.lower().removesuffix("_proxy")] = value
    return found if found.keys() - {"no"} else {}


def _through_another(address: Address, environ: Mapping[str, str]) -> bool:
    proxies = _proxies(environ)
    if not proxies.get(address.scheme) and not proxies.get("all"):
        return False
    spared = [part.strip().lstrip(".").lower() for part in proxies.get("no", "").split(",")]
    host = address.host.lower()
    return not any(part == "*" or (part and (host == part or host.endswith(f".{part}"))) for part in spared)
