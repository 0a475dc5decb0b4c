"""The MkDocs face: the only part that imports mkdocs."""
