"""Group refused questions into subjects that the site lacks (`answerable gaps`)."""
