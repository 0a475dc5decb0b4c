"""Package a published function folder, with its dependencies, for a cloud platform or container."""
