"""Writes models of N layers, each a product with a weight of its own and a tanh: layers.py N...

-N writes a function of N operations on a number.
"""
import sys

for k, layers in enumerate(map(int, sys.argv[1:])):
    if layers < 0:
        print(f"func.func @numbers{k}(%x0: i32, %y: i32) -> i32 {{")
        for i in range(-layers):
            print(f"  %x{i + 1} = arith.{'muli' if i % 2 else 'xori'} %x{i}, %y : i32")
        print(f"  return %x{-layers} : i32\n}}")
        continue
    weights = ", ".join(f"%w{i}: tensor<16x16xf32>" for i in range(layers))
    name = f"layers{k}" if k else "layers"
    print(f"func.func @{name}(%x0: tensor<16x16xf32>, {weights}) -> tensor<16x16xf32> {{")
    print("  %zero = arith.constant 0.0 : f32")
    print("  %e = tensor.empty() : tensor<16x16xf32>")
    print("  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>")
    for i in range(layers):
        print(f"  %y{i} = linalg.matmul ins(%x{i}, %w{i} : tensor<16x16xf32>, tensor<16x16xf32>)"
              " outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>")
        print(f"  %x{i + 1} = math.tanh %y{i} : tensor<16x16xf32>")
    print(f"  return %x{layers} : tensor<16x16xf32>\n}}")
