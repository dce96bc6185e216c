"""Who gets which task: leases of slots, seats in batches, tasks assigned to annotators by name.

Start in leases.py: one SQL statement claims a slot, reassigns lapsed ones and keeps annotators away from items they
have already seen. seats.py assigns batches and decides in which stage an annotator works; by_name.py reserves tasks for
named annotators. Studies and the rooms above it may import this room; it imports checks and pipeline.
"""
