"""What flows between the layers: frozen dataclasses and enums. No I/O, no work."""
