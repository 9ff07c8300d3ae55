"""Tasks for workflow agents: data made from a seed, a prompt, a check of the final state, a plan that solves it."""
