"""How functions and cuts are computed, whatever the front end that asks."""
