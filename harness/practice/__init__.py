"""Practice under a clock that remembers: attempts, history, what is due next. Never prints."""
