"""Configure a site and its host: edit mkdocs.yml, write the workflow that publishes the site."""
