"""Runs on several machines: what is sent there, the station that works there, the cluster."""
