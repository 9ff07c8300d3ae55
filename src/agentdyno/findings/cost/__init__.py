"""What agents cost for what they achieve."""
