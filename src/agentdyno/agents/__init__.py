"""Adapters that turn functions, commands and endpoints into an ``Agent``."""
