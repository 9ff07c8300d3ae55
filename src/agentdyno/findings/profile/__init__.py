"""Where the time and the tokens of an agent go: phases, bottlenecks, use of resources, what could be saved."""
