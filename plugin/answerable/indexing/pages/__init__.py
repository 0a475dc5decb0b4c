"""Parse pages into records, and cut records into passages."""
