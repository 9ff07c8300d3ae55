"""The key ``bands`` of specs, suites and load files: thresholds that replace those of the settings."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.settings.bands import ASCENDING
from agentdyno.settings.setting import BANDS
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, form


class BandsOwn(FileModel):
    """From where figures are good, and from where they are red flags."""

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        for row in ASCENDING:
            for lower, higher in pairwise(row):
                low, high = (getattr(self, item.name) for item in (lower, higher))
                if low > high:
                    message = f"expected at most {higher.name}, which is {high:g}, got {low:g}"
                    raise refuse(message, f"Lower it, or raise {higher.name}.", lower.name)
        return self


def _spell_bands(value: object) -> object:
    """``true`` as the mapping that changes nothing."""
    return {} if value is True else value


BandsModel = form("BandsModel", BANDS, base=BandsOwn)
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    BandsField = BandsOwn
else:
    BandsField = Annotated[
        BandsModel, BeforeValidator(_spell_bands, json_schema_input_type=BandsModel | Literal[True])
    ]


class BandsKey(FileModel):
    """The key itself, for the forms of files that have it."""

    bands: BandsField = Field(
        default_factory=BandsModel,
        description="Say what figures mean, good or a red flag; thresholds that differ from the usual ones",
        examples=[True, {"latency_p95_s": 0.5}],
    )
