"""Judge answers by a gold set of questions; report verdicts, gate changes, propose floors."""
