"""The index of a site: its columns, its files and their manifest."""
