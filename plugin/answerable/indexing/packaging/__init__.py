"""Package a published function folder for a platform."""
