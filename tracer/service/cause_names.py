"""Causes in words, for the pages: they know the use cases, not the rules behind them."""

from tracer.cache.causes import cause_words

__all__ = ["cause_words"]
