"""Write the files from which a site answers in its readers' browsers."""
