"""May this change pass?"""
