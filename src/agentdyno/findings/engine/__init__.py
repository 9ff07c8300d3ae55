"""Two sides to rows with a p-value: pairing, measuring, judging."""
