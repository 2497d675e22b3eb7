"""A small model of how ZCode lays out, projects and logs its requests.

The package writes the synthetic logs of ``sample-logs/zcode``: it keeps a conversation history,
projects it to request messages, simulates a provider's prompt cache and writes the same files the
agent would write. The format is described in formats/zcode.md. All prose in it is invented.
"""
