s/spmd.weight = "w0"/&, spmd.segments = #spmd.segments<0, [2, 4], unit = 2>/
s/spmd.weight = "w1"/&, spmd.segments = #spmd.segments<1, [5, 5]>/
s/spmd.weight = "b1"/&, spmd.segments = #spmd.segments<0, [5, 5]>/
