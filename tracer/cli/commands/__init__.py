"""One command a module. See `_skeleton.py` for how to add one."""
