"""Index a site on its author's machine: private text goes in, a bundle without it comes out."""
