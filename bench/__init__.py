"""What takes minutes and is no test: measurements, attacks, pictures, and the check of a release."""
