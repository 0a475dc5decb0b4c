"""Read vectors that are stored as numbers or bits, and estimate their cosines with a query."""
