"""What runs inside of a cell. Started once for every command, so it imports little."""
