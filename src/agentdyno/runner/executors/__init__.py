"""How trials are performed: here, in processes, or as cases put to agents."""
