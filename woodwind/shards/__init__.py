"""Where the rows are, and how questions about them are answered."""
