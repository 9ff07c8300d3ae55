"""Agents head to head."""
