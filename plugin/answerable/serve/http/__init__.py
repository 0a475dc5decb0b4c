"""Serve answers over HTTP: requests, responses, streaming, logs, and adapters to platforms."""
