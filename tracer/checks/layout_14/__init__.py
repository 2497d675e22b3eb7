"""The rules of the 14-segment layout (docs/formats/context-trace.md 4): one rule a file."""
