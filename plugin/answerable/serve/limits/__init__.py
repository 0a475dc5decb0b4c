"""What protects the owner: who may ask how often, and what it may cost."""
