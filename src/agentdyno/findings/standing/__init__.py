"""Where the agents of one run of a suite stand."""
