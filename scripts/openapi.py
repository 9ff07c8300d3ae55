"""Prints the OpenAPI document of the service, in the same bytes for the same routes.

Usage: python scripts/openapi.py > openapi.json
"""

from __future__ import annotations

import json
from pathlib import Path

from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings


def main() -> None:
    # Nothing is opened: the store would be, with the first request.
    document = create_app(ServiceSettings("sqlite://", Path())).openapi()
    # A new release alone is no change of the API.
    document["info"]["version"] = ""
    print(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False))


if __name__ == "__main__":
    main()
