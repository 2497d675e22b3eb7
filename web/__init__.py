"""The pages of Context Tracer: rendered on the server, useful without JavaScript."""
