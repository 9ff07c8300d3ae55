"""From what a user names to what is put under load: an endpoint, or an agent behind its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.endpoints.ollama_chat import OLLAMA_URL
from agentdyno.agents.endpoints.openai_chat import OPENAI_URL
from agentdyno.agents.references import locate
from agentdyno.errors import SpecError
from agentdyno.model import AgentUse, Workspace
from agentdyno.model.load import Dialect, LoadSpec, LoadTarget
from agentdyno.runs.lineup import LOCAL, Entrant, line_up
from agentdyno.settings.load_requests import METHOD
from agentdyno.wire.address import Address

if TYPE_CHECKING:
    from agentdyno.model.case import Case

OLLAMA_PORT = 11434


@dataclass(frozen=True, slots=True)
class Subject:
    """What is put under load. ``target`` where it is an endpoint that the engine speaks to itself, else ``entrant``.

    ``label`` is what results call it; ``wants_local_model`` means that the bundled model's server has to be started
    and its address put in.
    """

    label: str
    target: LoadTarget | None = None
    entrant: Entrant | None = None
    wants_local_model: bool = False

    @property
    def has_process_here(self) -> bool:
        """Whether the target runs on this machine, so that its memory can be watched and limited."""
        if self.has_own_processes or self.wants_local_model:
            return True
        return bool(self.address) and Address.parse(self.address).host in ("localhost", "127.0.0.1", "::1")

    @property
    def address(self) -> str:
        """The URL at which it is asked, of an agent as well; empty where it has none."""
        if self.target is not None:
            return self.target.url
        named = "" if self.entrant is None else self.entrant.use.uses
        return named if named.startswith(("http://", "https://")) else ""

    @property
    def has_own_processes(self) -> bool:
        """Whether it is an agent that lives in processes which are started for it."""
        return self.target is None and not self.address and self.entrant is not None and self.entrant.target is None

    def at(self, url: str) -> Subject:
        """The same, at another address: a proxy in front of it, or the server that was started for it."""
        if self.target is not None:
            return replace(self, target=replace(self.target, url=url))
        if self.entrant is not None and self.address:
            return replace(self, entrant=replace(self.entrant, use=replace(self.entrant.use, uses=url)))
        return self


def find_subject(spec: LoadSpec, workspace: Workspace, base_dir: Path) -> Subject:
    """Raises ``SpecError`` for what is neither a URL nor an agent, or is public and nobody says it is his own."""
    subject = _found(spec, workspace, base_dir)
    if subject.target is not None and not subject.wants_local_model:
        _check_ownership(subject.target.url, spec)
    return subject


def guess_dialect(url: str, model: str) -> Dialect:
    """``…/v1`` or a named model is OpenAI's, Ollama's port is Ollama's, anything else is plain HTTP."""
    address = Address.parse(url)
    if address.path.endswith("/v1"):
        return Dialect.OPENAI
    if address.port == OLLAMA_PORT or address.path.endswith("/api"):
        return Dialect.OLLAMA
    return Dialect.OPENAI if model else Dialect.HTTP


def _found(spec: LoadSpec, workspace: Workspace, base_dir: Path) -> Subject:
    if spec.target.startswith(("http://", "https://")):
        return _endpoint(spec, spec.target)
    if spec.target == LOCAL:
        target = _target(spec, Dialect.OPENAI, LOCAL, spec.model)
        return Subject(LOCAL, replace(target, name=LOCAL), wants_local_model=True)
    entrants = line_up([spec.target], workspace, base_dir)
    if len(entrants) > 1:
        raise SpecError(
            f"{spec.target} stands for {len(entrants)} agents",
            where="load.target",
            remedy="Put one at a time under load.",
        )
    entrant = entrants[0]
    use = locate(entrant.use).use
    scheme = locate(entrant.use).scheme
    if spec.dialect is Dialect.AGENT or scheme not in ("openai", "ollama"):
        return Subject(entrant.label, entrant=entrant, wants_local_model=entrant.wants_local_model)
    return _model_endpoint(spec, entrant, use, scheme)


def _endpoint(spec: LoadSpec, url: str) -> Subject:
    dialect = spec.dialect or guess_dialect(url, spec.model)
    if dialect is Dialect.AGENT:
        raise SpecError(
            "a URL is no agent", where="load.dialect", remedy="Leave it out, or name an agent as the target."
        )
    if dialect is Dialect.OLLAMA and not spec.model:
        raise SpecError(
            "Ollama has to be told which model", where="load.model", remedy="Add --model, as in --model gemma3."
        )
    address = Address.parse(url)
    if dialect is Dialect.OLLAMA and address.path.endswith("/api"):
        url = url.rstrip("/").removesuffix("/api")
    return Subject(address.endpoint(), _target(spec, dialect, url, spec.model))


def _model_endpoint(spec: LoadSpec, entrant: Entrant, use: AgentUse, scheme: str) -> Subject:
    """An agent that is one call to a model: the engine asks the model itself, with the agent's configuration."""
    config = use.config
    default = OPENAI_URL if scheme == "openai" else OLLAMA_URL
    url = str(config.get("base_url") or default)
    options = config.get("options")
    key_env = spec.key_env or str(config.get("api_key_env") or ("OPENAI_API_KEY" if scheme == "openai" else ""))
    target = LoadTarget(
        name=entrant.label,
        dialect=Dialect(scheme),
        url=url,
        model=spec.model or str(config.get("model") or use.uses.partition(":")[2]),
        key_env=key_env if "api_key_env" not in config or config["api_key_env"] else "",
        options={**(options if isinstance(options, Mapping) else {}), **spec.body_options},
        ca_file=spec.ca_file,
        insecure=spec.insecure,
    )
    return Subject(entrant.label, target, entrant, wants_local_model=url == LOCAL)


def _target(spec: LoadSpec, dialect: Dialect, url: str, model: str) -> LoadTarget:
    return LoadTarget(
        name=url if url == LOCAL else Address.parse(url).endpoint(),
        dialect=dialect,
        url=url,
        model=model,
        key_env=spec.key_env,
        method=_method(spec),
        headers=spec.headers,
        options=spec.body_options,
        body=spec.body,
        ca_file=spec.ca_file,
        insecure=spec.insecure,
    )


def _method(spec: LoadSpec) -> str:
    """What a plain target is asked with: what was said, else GET where there is nothing to send."""
    if spec.method != METHOD.default:
        return spec.method
    return "POST" if spec.dataset or spec.journey or spec.options.prompt or spec.body is not None else "GET"


def _check_ownership(url: str, spec: LoadSpec) -> None:
    address = Address.parse(url)
    if address.private or spec.own_target:
        return
    raise SpecError(
        f"{address.host} is a public address: load on a server that is not yours is an attack",
        where="load.target",
        remedy="If it is yours and may be loaded, add --i-own-this-target.",
    )


def load_cases(spec: LoadSpec) -> tuple[Case, ...]:
    """What an agent is asked under load; nothing where it is to be asked made-up prompts."""
    from agentdyno.model.case import Case

    given = spec.input if spec.input is not None else spec.options.prompt or None
    return () if given is None else (Case("load", given),)
