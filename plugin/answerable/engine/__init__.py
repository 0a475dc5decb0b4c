"""Answer questions at serve time, without access to private text."""
