"""What a service runs for its callers: the queue seen from a worker."""
