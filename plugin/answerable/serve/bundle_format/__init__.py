"""Describe the files of a bundle: manifest, columns, postings, compression."""
