"""What the MkDocs plugin and the command share: the live ask box, the progress and the time."""
