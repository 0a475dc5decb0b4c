"""Make a documentation site answerable: cited answers, or a plain "not found"."""
