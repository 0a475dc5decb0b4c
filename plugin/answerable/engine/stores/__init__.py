"""Read an indexed site from a bundle folder or a PostgreSQL database."""
