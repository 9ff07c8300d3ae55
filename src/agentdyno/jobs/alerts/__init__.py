"""Outgoing alerts: what is told, to whom, and the messages that wait."""
