"""A small site for Sphinx."""

project = "Harbour"
author = "The crew"
copyright = "The crew"  # noqa: A001 - Sphinx's own name
html_baseurl = "https://harbour.example/docs/"
