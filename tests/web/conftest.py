"""Applications are made for nearly every test of these folders."""

from __future__ import annotations

from .shared_adapters import share_type_adapters

share_type_adapters()
