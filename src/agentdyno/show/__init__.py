"""What tables, sections and pictures are made of."""
