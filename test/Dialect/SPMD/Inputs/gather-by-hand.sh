#!/bin/sh
# Interesting (exit 1) while a gather is written by hand.
grep -q spmd.all_gather "$1" && exit 1
exit 0
