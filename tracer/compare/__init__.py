"""Comparing two prompts: common prefix, aligned changes, hunks. Pure."""
