"""Index pages and private notes into a bundle without the notes' text, audit it and publish it."""
