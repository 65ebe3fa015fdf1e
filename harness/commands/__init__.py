"""One module per verb. Only these and ``cli`` print and exit; what they need beyond click is imported when they run."""
