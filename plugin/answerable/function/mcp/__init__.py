"""Three tools for agents over the Model Context Protocol: ask, search and read."""
