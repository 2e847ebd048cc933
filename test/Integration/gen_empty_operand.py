"""A function of N loop nests and one with a branch that reads an empty tensor, which no index takes: gen_empty_operand.py N ROWSxCOLUMNS."""
import sys

MAP = 'indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]'
count, shape = int(sys.argv[1]), sys.argv[2]
body, results = "", []
for k in range(count):
    size = f"{10 + k}x{10 + k}"
    body += f"""  %e{k} = tensor.empty() : tensor<{size}xf32>
  %g{k} = linalg.generic {{{MAP}}} outs(%e{k} : tensor<{size}xf32>) {{
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = tensor.extract %x[%i, %j] : tensor<64x64xf32>
    %b = tensor.extract %x[%j, %i] : tensor<64x64xf32>
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  }} -> tensor<{size}xf32>
"""
    results.append((f"%g{k}", f"tensor<{size}xf32>"))
body += f"""  %z = tensor.empty() : tensor<{shape}xf32>
  %ez = tensor.empty() : tensor<13x16xf32>
  %gz = linalg.generic {{{MAP}}} outs(%ez : tensor<13x16xf32>) {{
  ^bb0(%o: f32):
    %c16 = arith.constant 16 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ult, %j, %c16 : index
    %v = scf.if %c -> (f32) {{
      %a = tensor.extract %x[%i, %j] : tensor<64x64xf32>
      scf.yield %a : f32
    }} else {{
      %a = tensor.extract %z[%i, %j] : tensor<{shape}xf32>
      scf.yield %a : f32
    }}
    linalg.yield %v : f32
  }} -> tensor<13x16xf32>
"""
results.append(("%gz", "tensor<13x16xf32>"))
types = ", ".join(t for _, t in results)
print(f"func.func @main(%x: tensor<64x64xf32>) -> ({types}) {{\n{body}  return {', '.join(v for v, _ in results)} : {types}\n}}")
