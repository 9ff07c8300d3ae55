"""Agents of frameworks as they are: one adapter a framework, found without importing any of them."""
