"""Pictures of a report: inline SVG with a title and a description, coloured by the classes of ``report.css``."""
