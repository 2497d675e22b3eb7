"""What a prompt is made of. Pure."""
