"""Load: schedules that are fixed beforehand, the clients that keep them, and the search for where a target breaks."""
