"""A local server that speaks the OpenAI protocol, with scripted models and faults on demand."""
