"""Connect the service to servers and platforms: WSGI, ASGI, AWS Lambda."""
