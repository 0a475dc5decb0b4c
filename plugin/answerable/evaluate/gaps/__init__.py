"""Group refused questions of logs into pages that the site lacks (`answerable gaps`)."""
