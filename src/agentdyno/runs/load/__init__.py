"""Runs under load."""
