"""What later versions are held against."""
