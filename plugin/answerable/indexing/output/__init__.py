"""Write bundles and function folders atomically and with private permissions."""
