"""Read a folder of HTML that any site generator has built."""
