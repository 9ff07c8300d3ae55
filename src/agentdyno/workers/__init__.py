"""One protocol between the bench and the processes that work for it. Standard library only."""
