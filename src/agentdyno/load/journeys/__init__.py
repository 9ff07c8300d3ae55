"""Journeys: what a user does in several calls, as a Python function."""
