"""Tokenize, normalize and sanitize text, by language."""
