"""Parse pages' HTML into records of sections and blocks, and cut records into passages."""
