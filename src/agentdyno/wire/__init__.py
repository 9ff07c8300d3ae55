"""The streaming HTTP client: bytes are stamped when they arrive and decoded afterwards."""
