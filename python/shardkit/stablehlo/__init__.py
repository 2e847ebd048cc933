"""StableHLO modules, and how they become linalg."""

STAGE_MARK = "shardkit.stage_boundary"
"""The attribute of a barrier that splits a program into pipeline stages."""
