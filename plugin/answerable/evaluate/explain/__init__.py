"""Explain why a site answers or refuses a question (`answerable why`)."""
