"""Agents of frameworks for the same tasks, one file a framework.

They run in the environments of their frameworks, where neither agentdyno nor its dependencies need to be: the
standard library, and the framework imported when its subject is made. ``OPENAI_BASE_URL`` says where the model is.
"""
