"""The agents' own rules: one rule a file. Pure."""
