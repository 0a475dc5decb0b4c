"""Read a folder of HTML, built by any site generator, into pages to index."""
