"""Encode vectors as numbers or bits, and compute dot products over them."""
