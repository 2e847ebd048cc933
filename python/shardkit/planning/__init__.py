"""What plans for other compilers have in common: the search, the layouts in its program, and Shardy's propagation."""
