"""Read private notes, lint what they declare public, and turn them into routing hints."""
