"""JSON as everybody can read it: what is not a number is null, never NaN."""

from __future__ import annotations

from starlette.responses import JSONResponse

from agentdyno.model.codec import encode


class StrictJson(JSONResponse):
    """Values of the vocabulary field by field."""

    def render(self, content: object) -> bytes:
        return encode(content).encode()
