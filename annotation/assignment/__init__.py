"""Who gets which task: leases of slots, seats in batches, tasks assigned to annotators by name.

Start in leases.py: one SQL statement claims a slot, gives lapsed ones to others and keeps annotators apart from items
that they have met. seats.py gives out batches and decides which stage an annotator works in; by_name.py reserves tasks
for people. Studies and the rooms above may import it; it imports checks and pipeline.
"""
