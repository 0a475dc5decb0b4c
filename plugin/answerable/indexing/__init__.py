"""What runs on the author's machine: it sees private text, and writes a bundle without it."""
