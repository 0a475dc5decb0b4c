"""The service over HTTP: its requests and answers, and the adapters of each platform."""
