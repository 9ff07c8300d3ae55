"""The ways into a ``Spec``: a file, a Python mapping, an experiment's name; and back from its stored form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.spec import Spec
from agentdyno.specs.changes import COMMAND_LINE, SettingChanges
from agentdyno.specs.files.problems import FileProblem, got, shorten, spec_error


def load_spec(path: Path, *, quick: bool = False, overrides: SettingChanges | None = None) -> Spec:
    """The spec in a YAML or JSON file; ``quick`` applies its ``quick:`` key. Raises ``SpecError``."""
    from agentdyno.specs.files.read import read_document

    document = _mapping(read_document(path), str(path))
    return _build(document, str(path), path.absolute().parent, path.stem, use_quick=quick, overrides=overrides)


def parse_spec(
    document: Mapping[str, object],
    *,
    source: str,
    base_dir: Path,
    quick: bool = False,
    overrides: SettingChanges | None = None,
) -> Spec:
    """The spec in a mapping of the file format's form; ``source`` stands for the file in messages."""
    return _build(_mapping(document, source), source, base_dir, "", use_quick=quick, overrides=overrides)


def spec_for(experiment: str, *, base_dir: Path, overrides: SettingChanges) -> Spec:
    """A spec with every default for one experiment: what runs without a file."""
    return _build({"experiment": experiment}, experiment, base_dir, "", use_quick=False, overrides=overrides)


def entry_where(spec: Spec, index: int) -> str:
    """The place of an entry in messages: the file, and the key where there are several."""
    return spec.source if len(spec.entries) == 1 else f"{spec.source}: experiments[{index}]"


def parse_param(text: str) -> tuple[str, object]:
    """``size=200`` as ``("size", 200)``; the value is a YAML scalar or flow collection, as in ``sizes=[1, 2]``."""
    from agentdyno.specs.files.yaml_text import parse_value

    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name or not name.isprintable():
        raise SpecError(
            f"expected NAME=VALUE, got {shorten(repr(text))}",
            where=f"{COMMAND_LINE}: params",
            remedy="Write for example -p documents=1000.",
        )
    return name, parse_value(value, f"{COMMAND_LINE}: params.{shorten(name)}")


def spec_document(spec: Spec) -> dict[str, object]:
    """The normalised plain form of a spec, as results keep it."""
    document: dict[str, object] = to_plain(spec)
    return document


def spec_from_document(document: Mapping[str, object]) -> Spec:
    """The inverse of ``spec_document``."""
    try:
        return from_plain(Spec, document)
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"not the stored form of a spec: {error}",
            where=str(document.get("source") or "spec") if isinstance(document, Mapping) else "spec",
            remedy="Give what a result of agentdyno holds under `spec`.",
        ) from None


def _mapping(document: object, source: str) -> dict[str, object]:
    from agentdyno.specs.files.plain import plain_document

    copied = plain_document(document, source)
    if isinstance(copied, dict):
        return copied
    if copied is None:
        raise SpecError(
            "expected a mapping, the file holds nothing", where=source, remedy="Write at least `experiment: NAME`."
        )
    raise spec_error(
        source,
        [
            FileProblem(
                "", f"expected a mapping at the top, got {got(copied)}", "Write keys, as in `experiment: NAME`."
            )
        ],
    )


def _build(
    document: dict[str, object],
    source: str,
    base_dir: Path,
    name: str,
    *,
    use_quick: bool,
    overrides: SettingChanges | None,
) -> Spec:
    from agentdyno.specs.experiment.build import build_spec
    from agentdyno.specs.experiment.format import QuickModel, SpecFile
    from agentdyno.specs.files.validate import validate_as
    from agentdyno.specs.layers import apply_layer

    settled = validate_as(SpecFile, document, source)
    layer = settled.pop("quick", {})
    if use_quick:
        settled = apply_layer(settled, layer)
    if overrides is not None:
        changed = validate_as(QuickModel, _mapping(overrides.document(), COMMAND_LINE), COMMAND_LINE)
        settled = apply_layer(settled, changed, command_line=True)
    return build_spec(settled, source=source, base_dir=str(base_dir), name=name)
