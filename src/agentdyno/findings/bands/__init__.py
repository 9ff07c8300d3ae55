"""What single figures of a run mean, by bands: good from here on, a red flag from there on."""
