#!/bin/sh
# A fault is interesting (exit 1) while the program still has a collective.
! shard-opt "$1" 2>/dev/null | grep -q spmd.all_reduce
