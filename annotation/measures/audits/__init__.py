"""Audits: how many items of a finite benchmark are wrong, for as few judgments as validly possible. Pure."""
