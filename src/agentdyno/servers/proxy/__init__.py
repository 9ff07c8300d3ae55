"""A proxy that makes faults."""
