"""Score passages and hints against a question, and select the evidence."""
