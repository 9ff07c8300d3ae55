"""What one agent did on one version of a suite, case by case."""
