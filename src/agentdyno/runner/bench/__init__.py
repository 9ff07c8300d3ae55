"""What runs in a measured process. Standard library only."""
