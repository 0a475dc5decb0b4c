"""Formats of a bundle's files: manifest, number and text columns, postings, compression."""
