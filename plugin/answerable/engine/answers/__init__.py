"""Turn evidence into an answer whose every claim cites a verbatim quote."""
