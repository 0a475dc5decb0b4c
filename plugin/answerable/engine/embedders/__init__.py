"""Embed texts: the local static token vectors, or a server with the OpenAI protocol."""
