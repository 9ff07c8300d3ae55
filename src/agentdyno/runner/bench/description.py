"""What a worker says about code that it is asked to describe."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.errors import DynoError, PluginError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.parameter import ExperimentInfo, Parameter
from agentdyno.registry.adapt import adapt
from agentdyno.registry.describe import describe
from agentdyno.runner.bench.arm import load_code
from agentdyno.runner.bench.job import CodeReference
from agentdyno.workers.frames import Message


def description(message: Message) -> object:
    """What an experiment takes, or whether an instrument perturbs; ``PluginError`` where it cannot be loaded."""
    try:
        code = from_plain(CodeReference, message["code"])
        target = load_code(message["kind"], code, message["also_known"])
        if message["kind"] == "experiments":
            return to_plain(_jsonable(describe(message["name"], target)))
        return adapt(target, message["name"], message["options"]).perturbs
    except (DynoError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001  (whatever it is, the runner must know)
        raise PluginError(f"{type(error).__name__}: {error}", where=message["code"]["name"]) from None


def _jsonable(info: ExperimentInfo) -> ExperimentInfo:
    """Defaults that have no JSON form are shown as text, and marked so that nobody passes the text on."""
    return replace(info, parameters=tuple(_with_plain_default(item) for item in info.parameters))


def _with_plain_default(item: Parameter) -> Parameter:
    try:
        return replace(item, default=to_plain(item.default))
    except TypeError:
        return replace(item, default=str(item.default), opaque=True)
