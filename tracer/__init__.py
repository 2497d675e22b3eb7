"""Context Tracer: what each request of an LLM coding agent contained, and where its cache ended."""

__version__ = "0.1.0"
