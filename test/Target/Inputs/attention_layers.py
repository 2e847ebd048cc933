"""Writes a model of N layers with a cache: attention_layers.py N [--sharded].

Each layer scales its row by numbers that it reads from it, updates its row of a cache in place, attends to it, and has a product with a weight of its own. What only depends on the
position is computed once, in the first layer. The last layer of --odd applies another function."""
import sys

layers, is_sharded, is_odd = int(sys.argv[1]), "--sharded" in sys.argv, "--odd" in sys.argv
T, ROW, CACHE, WEIGHT = "tensor<1x64xf32>", "tensor<64xf32>", "tensor<16x64xf32>", "tensor<64x64xf32>"


def weight(name, spec):
    sharding = f", spmd.sharding = #spmd.sharding<@m, {spec}>" if is_sharded else ""
    return f'%{name}: {WEIGHT} {{spmd.weight = "{name}"{sharding}}}'


if is_sharded:
    print('spmd.mesh @m = <["x"=2]>')
arguments = [f"%x0: {T}", "%position: tensor<i64>"]
results, returned = [T], []
for i in range(layers):
    arguments += [weight(f"up{i}", '[{}, {"x"}]'), weight(f"down{i}", '[{"x"}, {}]'), f"%cache{i}: {CACHE}"]
    results.append(f"{CACHE} {{spmd.tied = {3 * i + 4} : i64}}")
print(f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{")
print(f"""  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %empty = tensor.empty() : {T}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {T}) -> {T}
  %at = tensor.extract %position[] : tensor<i64>
  %index = arith.index_cast %at : i64 to index""")
for i in range(layers):
    function = "cos" if is_odd and i == layers - 1 else "sin"
    print(f"""  %t{i} = math.tanh %x{i} : {T}
  %first{i} = tensor.extract %t{i}[%c0, %c0] : {T}
  %square{i} = arith.mulf %first{i}, %first{i} : f32
  %factor{i} = arith.minimumf %square{i}, %first{i} : f32
  %row{i} = linalg.generic {{indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}}
    ins(%t{i} : {T}) outs(%empty : {T}) {{
  ^bb0(%in: f32, %o: f32):
    %v = arith.mulf %in, %factor{i} : f32
    linalg.yield %v : f32
  }} -> {T}
  %new{i} = tensor.insert_slice %row{i} into %cache{i}[%index, 0] [1, 64] [1, 1] : {T} into {CACHE}""")
    if i == 0:
        print(f"""  %e1 = tensor.empty() : {CACHE}
  %mask = linalg.generic {{indexing_maps = [affine_map<(r, c) -> ()>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}}
    ins(%position : tensor<i64>) outs(%e1 : {CACHE}) {{
  ^bb0(%p: i64, %o: f32):
    %r = linalg.index 0 : index
    %s = arith.index_cast %r : index to i64
    %before = arith.cmpi sle, %s, %p : i64
    %one = arith.constant 1.0 : f32
    %v = arith.select %before, %one, %zero : f32
    linalg.yield %v : f32
  }} -> {CACHE}""")
    print(f"""  %masked{i} = arith.mulf %new{i}, %mask : {CACHE}
  %er{i} = tensor.empty() : {ROW}
  %ir{i} = linalg.fill ins(%zero : f32) outs(%er{i} : {ROW}) -> {ROW}
  %sum{i} = linalg.reduce ins(%masked{i} : {CACHE}) outs(%ir{i} : {ROW}) dimensions = [0]
    (%in: f32, %acc: f32) {{ %t = arith.addf %in, %acc : f32 linalg.yield %t : f32 }}
  %wide{i} = tensor.expand_shape %sum{i} [[0, 1]] output_shape [1, 64] : {ROW} into {T}
  %h{i} = linalg.matmul ins(%wide{i}, %up{i} : {T}, {WEIGHT}) outs(%init : {T}) -> {T}
  %a{i} = math.{function} %h{i} : {T}
  %y{i} = linalg.matmul ins(%a{i}, %down{i} : {T}, {WEIGHT}) outs(%init : {T}) -> {T}
  %x{i + 1} = arith.addf %x{i}, %y{i} : {T}""")
    returned.append(f"%new{i}")
print(f"  return {', '.join([f'%x{layers}', *returned])} : {', '.join([T] + [CACHE] * layers)}\n}}")
