"""Put the ask box into the HTML of built pages, and format its configuration file."""
