"""How often the property tests of statistics are tried."""

from ..properties import examples

quick = examples(60)
