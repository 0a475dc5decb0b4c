"""A bundle published to a PostgreSQL database, row by row."""
