"""Load specs."""
