"""Plans that PyTorch runs: placements of DTensor, styles of modules, and modules that are distributed by them."""
