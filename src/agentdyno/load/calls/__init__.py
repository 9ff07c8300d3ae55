"""Calls of agents under load."""
