"""Agents behind HTTP: chat models and plain JSON."""
