"""The client: connections, the hot path, decoding."""
