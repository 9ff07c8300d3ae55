"""Readers of what other tools wrote, one per module; none is imported before it is used."""
