"""Answer agents over the Model Context Protocol: messages, methods, tools, resources, pages."""
