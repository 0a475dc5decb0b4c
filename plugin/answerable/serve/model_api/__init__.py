"""Call a model server with the OpenAI protocol, within limits of time and size."""
