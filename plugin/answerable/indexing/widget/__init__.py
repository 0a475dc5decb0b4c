"""Put the ask box into built pages, and write its configuration file."""
