"""Watchers of an execution, one per module; none is imported before it is used."""
