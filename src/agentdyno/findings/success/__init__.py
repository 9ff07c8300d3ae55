"""How well benchmarking itself does: four figures against their goals."""
