"""Trials on other machines: who does which, what comes back, and what becomes of it when a machine is lost."""
