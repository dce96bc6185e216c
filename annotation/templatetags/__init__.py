"""Tags and filters that write numbers, moments and answers. Python rooms above may call the same functions."""
