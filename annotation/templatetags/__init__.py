"""How templates write figures, moments and answers. Python rooms above may call the same functions."""
