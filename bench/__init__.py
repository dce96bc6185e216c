"""Scripts that take minutes and are not tests: measurements, attacks, pictures, and the check of a release."""
