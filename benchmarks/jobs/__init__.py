"""Background work as database rows: states, progress, cancelling and recovery after a crash, with the working folders
and uploads of jobs, and pages with a form that starts a job. Any room may import it. Start with `jobs.py`.
"""
