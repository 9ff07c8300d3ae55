"""``dyno.yaml``."""
