"""What agents are called: by where they come from, and in as few words as tell them apart."""
