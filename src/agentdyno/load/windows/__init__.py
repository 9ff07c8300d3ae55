"""Requests to windows of time."""
