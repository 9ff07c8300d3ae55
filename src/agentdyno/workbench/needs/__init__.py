"""What has to be on a machine for what is shipped to run."""
