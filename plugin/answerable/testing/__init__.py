"""A server of the OpenAI protocol on loopback, to import in tests."""

from .openai_server import OpenAIServer

__all__ = ["OpenAIServer"]
