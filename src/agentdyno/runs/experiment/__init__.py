"""Runs of experiments."""
