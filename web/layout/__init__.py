"""Geometry of the drawings: dataclasses in, coordinates and path data out. Pure."""
