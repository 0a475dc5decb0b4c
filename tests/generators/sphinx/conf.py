"""A small site for Sphinx."""

project = "Harbour"
author = "The crew"
copyright = "The crew"
html_baseurl = "https://harbour.example/docs/"
