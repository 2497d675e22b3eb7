"""Sentences about comparisons, as filters of templates."""

from tracer.service.comparing_words import counts_words, headline, prefix_words, sized, where_words

COMPARE_WORDS = {
    "counts_words": counts_words,
    "headline": headline,
    "prefix_words": prefix_words,
    "sized_words": sized,
    "where_words": where_words,
}
"""The filters of this module, by name."""
