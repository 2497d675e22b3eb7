"""A second agent: it lays every request out in 14 segments and writes the open trace format."""
