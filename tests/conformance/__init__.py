"""Tools, resources and prompts for the official conformance suite; only its server has them.

The names, texts and schemas here are the suite's, not contextd's.
"""
