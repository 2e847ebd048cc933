"""Writes a model of N layers, each a product with a weight of its own and a tanh: layers.py N"""
import sys

layers = int(sys.argv[1])
weights = ", ".join(f"%w{i}: tensor<16x16xf32>" for i in range(layers))
print(f"func.func @layers(%x0: tensor<16x16xf32>, {weights}) -> tensor<16x16xf32> {{")
print("  %zero = arith.constant 0.0 : f32")
print("  %e = tensor.empty() : tensor<16x16xf32>")
print("  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>")
for i in range(layers):
    print(f"  %y{i} = linalg.matmul ins(%x{i}, %w{i} : tensor<16x16xf32>, tensor<16x16xf32>)"
          " outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>")
    print(f"  %x{i + 1} = math.tanh %y{i} : tensor<16x16xf32>")
print(f"  return %x{layers} : tensor<16x16xf32>\n}}")
