"""Test doubles to import: LetterEmbedder, ScriptedAnswerer and OpenAIStub, a local HTTP server."""

from .doubles import LetterEmbedder, ScriptedAnswerer
from .openai_stub import OpenAIStub

__all__ = ["LetterEmbedder", "OpenAIStub", "ScriptedAnswerer"]
