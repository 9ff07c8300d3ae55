"""A document with ``load:`` as the values that the load engine reads, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentdyno.errors import SpecError
from agentdyno.findings.stress.judge_objectives import format_slo, parse_slo
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadSpec, PromptLengths, Sessions, Shape, Stage
from agentdyno.model.spec import Entry, Spec
from agentdyno.settings.load import BURSTINESS, COUNT, DURATION
from agentdyno.settings.load_requests import HIGH, LOW, THINK, TURNS
from agentdyno.settings.run import SEED
from agentdyno.specs.changes import COMMAND_LINE
from agentdyno.specs.files.problems import FileProblem, got, spec_error
from agentdyno.specs.layers import bands_of

LOAD = "load"
"""The name under which a load run stands among the entries of a spec."""
_OPTIONS = ("processes", "connections", "timeout_s", "window_s", "max_requests", "max_s", "output_tokens", "prompt")
_SAME = (
    "target",
    "model",
    "profile",
    "params",
    "find_limit",
    "rate",
    "method",
    "headers",
    "body",
    "input",
    "clients",
)
_SOURCES = ("dataset", "journey")
_WITHOUT_SOURCE = ("prompt", "input", "prompt_words", "trace", "turns")
_WITHOUT_JOURNEY = ("dataset", "body", "scenarios", "find_limit")
_KINDS = ("scenarios", "stages", "trace", "find_limit", "concurrency")


@dataclass(frozen=True, slots=True)
class LoadedLoad:
    """A load run, and the settings of the run: a ``Spec`` with one entry that holds the same."""

    load: LoadSpec
    settings: Spec


def load_load(path: Path, *, quick: bool = False, overrides: Mapping[str, object] | None = None) -> LoadedLoad:
    """The load run in a YAML or JSON file; ``overrides`` is a document of the same form. Raises ``SpecError``."""
    from agentdyno.specs.files.read import read_document

    document = read_document(path)
    if not isinstance(document, Mapping):
        problem = FileProblem(
            "", f"expected a mapping at the top, got {got(document)}", "Write `load:` with its keys."
        )
        raise spec_error(str(path), [problem])
    return parse_load(
        document,
        source=str(path),
        base_dir=path.absolute().parent,
        name=path.stem,
        quick=quick,
        overrides=overrides,
    )


def parse_load(
    document: Mapping[str, object],
    *,
    source: str = COMMAND_LINE,
    base_dir: Path | None = None,
    name: str = "",
    quick: bool = False,
    overrides: Mapping[str, object] | None = None,
) -> LoadedLoad:
    """The load run in a mapping of the file format's form; ``source`` stands for the file in messages."""
    from agentdyno.specs.files.plain import plain_document
    from agentdyno.specs.files.validate import validate_as
    from agentdyno.specs.load.format import LoadFile

    settled: dict[str, Any] = validate_as(LoadFile, _plain(plain_document(document, source)), source)
    layer = settled.pop("quick", {})
    if quick:
        settled = _laid_over(settled, layer)
    if overrides:
        changed = validate_as(LoadFile, _plain(plain_document(overrides, COMMAND_LINE)), COMMAND_LINE)
        settled = _laid_over(settled, changed)
    return _build(settled, source, (base_dir or Path.cwd()).absolute(), name)


def load_document(loaded: LoadedLoad) -> dict[str, object]:
    """The file that says the same: only what differs from the defaults."""
    spec, settings = loaded.load, loaded.settings
    load: dict[str, object] = {"target": spec.target}
    if spec.dialect is not None:
        load["dialect"] = spec.dialect.value
    plain = {**to_plain(spec), **to_plain(spec.options)}
    default = {**to_plain(LoadSpec("")), **to_plain(LoadOptions())}
    for name in (*_SAME, *_OPTIONS, "scenarios", "trace", "dataset", "journey"):
        if name != "target" and plain.get(name) != default.get(name):  # rare ones are left out
            load[name] = plain[name]
    load |= _shape(spec)
    if spec.arrivals not in (Arrivals.POISSON, Arrivals.CLOSED, Arrivals.TRACE):
        load["arrivals"] = spec.arrivals.value
    if spec.gamma_shape != BURSTINESS.default:
        load["burstiness"] = spec.gamma_shape
    if spec.slo:
        load["slo"] = format_slo(spec.slo)
    further = {"api_key_env": spec.key_env, "options": dict(spec.body_options), "ca_file": spec.ca_file}
    for key, value in further.items():
        if value:
            load[key] = value
    for flag in ("insecure", "own_target"):
        if getattr(spec, flag):
            load[flag] = True
    if spec.options.prompts != PromptLengths():
        load["prompt_words"] = _differing(spec.options.prompts, PromptLengths())
    if spec.options.sessions.turns > 1:
        load |= {"turns": spec.options.sessions.turns, "think_s": spec.options.sessions.think_s}
    document: dict[str, object] = {"name": settings.name, "load": load, "seed": settings.seed}
    if settings.tags:
        document["tags"] = list(settings.tags)
    if settings.notes:
        document["notes"] = settings.notes
    return document


def load_of(settings: Spec) -> LoadSpec:
    """The load run that a stored spec holds."""
    for entry in settings.entries:
        if entry.experiment == LOAD:
            return from_plain(LoadSpec, entry.params)
    raise SpecError(f"{settings.name} is no load run", where=settings.source or None)


def _build(document: dict[str, Any], source: str, base_dir: Path, name: str) -> LoadedLoad:
    load = document.get(LOAD, {})
    problems = _problems(load)
    if problems:
        raise spec_error(source, problems)
    spec = LoadSpec(
        **{key: load[key] for key in _SAME if key in load},
        dialect=Dialect(load["dialect"]) if load.get("dialect") else None,
        key_env=load.get("api_key_env", ""),
        scenarios=tuple(load.get("scenarios", ())),
        stages=() if load.get("shape") else _stages(load),
        shape=_shape_of(load),
        arrivals=_arrivals(load),
        gamma_shape=load.get("burstiness", BURSTINESS.default),
        trace=_file(load, "trace", base_dir),
        dataset=_file(load, "dataset", base_dir),
        journey=_journey(load.get("journey", ""), base_dir),
        slo=parse_slo(load["slo"], where=f"{source}: load.slo") if load.get("slo") else (),
        options=_options(load),
        body_options=load.get("options", {}),
        ca_file=load.get("ca_file", ""),
        insecure=load.get("insecure", False),
        own_target=load.get("own_target", False),
    )
    settings = Spec(
        name=document.get("name") or name or f"load {spec.target}",
        entries=(Entry(LOAD, params=to_plain(spec)),),
        output_dir=document.get("output_dir") or None,
        tags=tuple(document.get("tags", ())),
        notes=document.get("notes", ""),
        seed=document.get("seed", SEED.default),
        bands=bands_of(document),
        base_dir=str(base_dir),
        source=source,
    )
    return LoadedLoad(spec, settings)


def _file(load: Mapping[str, Any], key: str, base_dir: Path) -> str:
    return str((base_dir / load[key]).resolve()) if load.get(key) else ""


def _journey(reference: str, base_dir: Path) -> str:
    file, at, name = reference.rpartition("@")
    return f"{(base_dir / file).resolve()}{at}{name}" if at else reference


def _problems(load: Mapping[str, Any]) -> list[FileProblem]:
    found = []
    if not load.get("target"):
        found.append(FileProblem("load.target", "expected a target, got none", "Name a URL or an agent."))
    given = [key for key in _KINDS if load.get(key)]
    if len(given) > 1:
        found.append(
            FileProblem(
                f"load.{given[1]}", f"expected one of {' or '.join(given)}, got both", "Remove one of the two."
            )
        )
    if load.get("concurrency") and load.get("rate"):
        found.append(
            FileProblem("load.concurrency", "expected a rate or a concurrency, got both", "Remove one of the two.")
        )
    found += _shape_problems(load)
    found += _source_problems(load)
    stages = load.get("stages", ())
    if any(row.get("concurrency") or row.get("concurrency_to") for row in stages) and any(
        row.get("rate") or row.get("rate_to") for row in stages
    ):
        found.append(
            FileProblem(
                "load.stages", "expected rates or concurrencies, got both", "Use two runs: they are not alike."
            )
        )
    lengths = load.get("prompt_words", {})
    if lengths.get("low", LOW.default) > lengths.get("high", HIGH.default):
        found.append(FileProblem("load.prompt_words.high", "expected at least low", "Raise high or lower low."))
    return found


def _source_problems(load: Mapping[str, Any]) -> list[FileProblem]:
    """What is asked comes from one place."""
    found = []
    for source in _SOURCES:
        others = (*_WITHOUT_SOURCE, *(_WITHOUT_JOURNEY if source == "journey" else ()))
        found += [
            FileProblem(f"load.{key}", f"expected {key} or a {source}, got both", "Remove one of the two.")
            for key in others
            if load.get(source) and load.get(key)
        ]
    if load.get("journey") and not any(load.get(key) for key in ("rate", "concurrency", "stages")):
        found.append(
            FileProblem("load.rate", "expected how many journeys begin, got nothing", "Add a rate or concurrency.")
        )
    return found


def _shape_problems(load: Mapping[str, Any]) -> list[FileProblem]:
    shape = load.get("shape")
    if not shape:
        extra = [key for key in ("to", "count") if load.get(key) is not None]
        return [
            FileProblem(f"load.{key}", f"expected a shape with {key}, got none", "Add `shape: ramp`.")
            for key in extra
        ]
    other = [key for key in ("stages", "scenarios", "trace", "find_limit") if load.get(key)]
    if other:
        return [FileProblem("load.shape", f"expected shape or {other[0]}, got both", "Remove one of the two.")]
    if not load.get("rate") and not load.get("concurrency"):
        return [
            FileProblem("load.rate", f"expected where the {shape} begins, got nothing", "Add a rate or concurrency.")
        ]
    if shape != "soak" and load.get("to") is None:
        return [
            FileProblem("load.to", f"expected where the {shape} goes, got nothing", "Add `to:`, as in `to: 500`.")
        ]
    return []


def _shape_of(load: Mapping[str, Any]) -> Shape | None:
    if not load.get("shape"):
        return None
    closed = bool(load.get("concurrency"))
    level = float(load["concurrency"] if closed else load["rate"])
    return Shape(
        load["shape"],
        level,
        float(load.get("to", level)),
        float(load.get("duration_s", DURATION.default)),
        load.get("count", COUNT.default),
        closed,
    )


def _stages(load: Mapping[str, Any]) -> tuple[Stage, ...]:
    if load.get("stages"):
        return tuple(Stage(**{"label": "steady", **row}) for row in load["stages"])
    if any(load.get(key) for key in ("scenarios", "trace", "find_limit")):
        return ()
    duration_s = load.get("duration_s", DURATION.default)
    if load.get("concurrency"):
        return (Stage("steady", duration_s, concurrency=load["concurrency"]),)
    return (Stage("steady", duration_s, rate=load["rate"]),) if load.get("rate") else ()


def _arrivals(load: Mapping[str, Any]) -> Arrivals:
    if load.get("trace"):
        return Arrivals.TRACE
    closed = load.get("concurrency") or any(
        row.get("concurrency") or row.get("concurrency_to") for row in load.get("stages", ())
    )
    return Arrivals.CLOSED if closed else Arrivals(load.get("arrivals", Arrivals.POISSON))


def _options(load: Mapping[str, Any]) -> LoadOptions:
    options = LoadOptions(**{key: load[key] for key in _OPTIONS if key in load})
    return replace(
        options,
        prompts=PromptLengths(**load.get("prompt_words", {})),
        sessions=Sessions(load.get("turns", TURNS.default), load.get("think_s", THINK.default)),
    )


def _shape(spec: LoadSpec) -> dict[str, object]:
    """The stages, or the shape, rate or concurrency that they come from."""
    if spec.shape is not None:
        shape = spec.shape
        level = {"concurrency": round(shape.level)} if shape.closed else {"rate": shape.level}
        return {"shape": shape.name, **level, "to": shape.to, "duration_s": shape.duration_s, "count": shape.count}
    if len(spec.stages) == 1:
        (only,) = spec.stages
        if only == Stage("steady", only.duration_s, rate=only.rate):
            return {"rate": only.rate, "duration_s": only.duration_s}
        if only == Stage("steady", only.duration_s, concurrency=only.concurrency):
            return {"concurrency": only.concurrency, "duration_s": only.duration_s}
    return {"stages": [_differing(stage, Stage("", 0.0)) for stage in spec.stages]} if spec.stages else {}


def _differing(value: object, default: object) -> dict[str, object]:
    plain, usual = to_plain(value), to_plain(default)
    return {key: item for key, item in plain.items() if item != usual[key]}


def _laid_over(document: dict[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    result = {**document, **{key: value for key, value in layer.items() if key != LOAD}}
    below = document.get(LOAD, {})
    above = layer.get(LOAD, {})
    params = {**below.get("params", {}), **above.get("params", {})}
    result[LOAD] = {**below, **above, **({"params": params} if params else {})}
    return result


def _plain(copied: object) -> dict[str, object]:
    return copied if isinstance(copied, dict) else {}
