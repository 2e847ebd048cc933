"""Formulas of functions and of blocked algorithms, shared by all front ends."""
