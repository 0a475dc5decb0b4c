"""Limit who may ask how often, and how many tokens that may cost."""
