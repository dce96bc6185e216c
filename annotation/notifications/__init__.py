"""What studies tell their managers by e-mail (benchmarks/notifications sends it): `stages`, that a stage is done, and
`digest`, what waits for a manager each day. No message names an annotator. `tasks` imports it.
"""
