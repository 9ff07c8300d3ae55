"""Tools and agents that speak a protocol of their own: MCP, A2A."""
