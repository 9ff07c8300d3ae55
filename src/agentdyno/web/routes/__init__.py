"""The endpoints, one module per subject; each has a ``router``."""
