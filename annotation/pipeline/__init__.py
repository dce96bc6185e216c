"""From judgments to outcomes, and from one stage's outcomes to the next stage's tasks.

Start in outcomes.py (`settle`, in the transaction of every judgment), then promotion.py: which items enter which stage,
also after a later import. task_creation.py writes tasks and slots; stage_rules.py is for code that only reads a stage's
rule; dawid_skene.py is the rule computed by a worker. Checks and the rooms above it may import this room; it imports
models, protocols and screens.
"""
