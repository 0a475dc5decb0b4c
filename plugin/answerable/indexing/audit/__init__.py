"""The leak audit: refuse to publish what holds a run of words of a private note."""
