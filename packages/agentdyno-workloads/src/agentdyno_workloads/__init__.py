"""Benchmarks that are installed beside agentdyno: a multi-agent simulation, and language models.

They use the public names of ``agentdyno`` only, as any package of a third party does.
"""

__version__ = "0.1.0"
