"""Explain why a question was answered or refused (`answerable why`)."""
