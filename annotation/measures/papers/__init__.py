"""Figures that the papers report for their protocols, beyond agreement and outcomes. Start with `registry`."""
