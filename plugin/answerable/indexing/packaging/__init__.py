"""A published function folder as the package that a platform takes."""
