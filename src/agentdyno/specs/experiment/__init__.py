"""Specs of experiments."""
