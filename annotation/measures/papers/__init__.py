"""Statistics that papers report for their protocols, beyond agreement and outcomes. Start with `registry`."""
