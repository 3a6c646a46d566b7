"""What the tests stand on: lit format, CHECK lint, hypothesis strategies, update_checks."""
