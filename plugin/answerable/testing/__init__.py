"""Test doubles for those who build on the package: providers in process, and a model server."""

from .doubles import LetterEmbedder, ScriptedAnswerer
from .openai_stub import OpenAIStub

__all__ = ["LetterEmbedder", "OpenAIStub", "ScriptedAnswerer"]
