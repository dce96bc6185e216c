"""What takes minutes and is no test: measurements, and the golden run that holds two checkouts side by side."""
