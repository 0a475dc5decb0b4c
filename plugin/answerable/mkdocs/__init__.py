"""The MkDocs plugin with its options and builds: the only part that imports mkdocs."""
