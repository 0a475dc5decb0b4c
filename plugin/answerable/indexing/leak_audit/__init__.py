"""Search all that is published for runs of words of private notes, and refuse it if one occurs."""
