"""What answers a question at serve time; it cannot see private text."""
