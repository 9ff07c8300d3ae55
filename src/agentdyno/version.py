"""The version of the package: what a run's environment, the API and stored answers name."""

__version__ = "0.1.0"
