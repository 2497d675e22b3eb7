"""The rules of ZCode (docs/formats/zcode.md 7 to 9): one rule a file."""
