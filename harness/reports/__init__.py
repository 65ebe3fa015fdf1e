"""Reports turn what was found into text for a person or a program. They never grade, print or exit."""
