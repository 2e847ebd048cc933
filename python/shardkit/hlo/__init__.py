"""Programs of XLA: HLO before and after SPMD partitioning."""
