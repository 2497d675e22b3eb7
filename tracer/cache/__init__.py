"""Provider rules, expected read, causes of a miss: one cause a file. Pure."""
