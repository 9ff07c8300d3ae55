"""A kind of run that agentdyno does not have."""
