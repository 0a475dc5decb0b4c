"""The gold set and what judges against it."""
