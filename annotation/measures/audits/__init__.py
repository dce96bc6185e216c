"""Audits: the share of wrong items in a finite benchmark, from as few judgments as validly possible. Pure."""
