"""Search everything that is published for runs of words of private notes."""
