"""One case: its answers and the trajectories behind them."""
