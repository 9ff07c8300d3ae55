"""What agents ask of their models, seen by a proxy between the two."""
