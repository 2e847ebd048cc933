"""Weights of 8-bit floats and 4-bit integers that loading functions convert.

make DIR DEVICES   writes a tensor cache, a .safetensors and a program
check DIR OUTPUT   compares what the program gives with numbers computed here
"""
import json
import math
import os
import struct
import sys

# Mantissa bits, bias, magnitude of infinity, magnitudes of NaN from here on.
FLOATS = {"E4M3FN": (3, 7, None, 0x7F), "E5M2": (2, 15, 0x7C, 0x7D),
          "E4M3FNUZ": (3, 8, None, None), "E5M2FNUZ": (2, 16, None, None)}
NAMES = {"E4M3FN": "float8_e4m3fn", "E5M2": "float8_e5m2", "E4M3FNUZ": "float8_e4m3fnuz",
         "E5M2FNUZ": "float8_e5m2fnuz", "E8M0FNU": "float8_e8m0fnu"}
CODES = list(range(256))
# An i4 tensor of 6x7, and numbers to be rounded: ties, next to ties, small, large.
NIBBLES = [(i * 11 + 5) % 16 - 8 for i in range(42)]


def decode(kind, code):
    if kind == "E8M0FNU":
        return math.nan if code == 255 else math.ldexp(1, code - 127)
    mantissa, bias, infinity, nan = FLOATS[kind]
    sign, size = -1 if code & 0x80 else 1, code & 0x7F
    if nan is None and code == 0x80:
        return math.nan
    if nan is not None and size >= nan:
        return math.nan
    if infinity is not None and size == infinity:
        return sign * math.inf
    exponent, fraction = size >> mantissa, size & (1 << mantissa) - 1
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - mantissa)
    return sign * math.ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def near(value, step):
    bits, = struct.unpack("<i", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<i", bits + step))[0]


def numbers(kind):
    """256 numbers whose rounding is not plain."""
    sizes = sorted({abs(v) for v in (decode(kind, c) for c in CODES) if math.isfinite(v)})
    found = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-30, -1e-42, 1e9, -3e5]
    for low, high in zip(sizes, sizes[1:]):
        middle = f32((low + high) / 2)
        found += [middle, -near(middle, 1), near(middle, -1)]
    over = sizes[-1] + (sizes[-1] - sizes[-2]) / 2
    found += [over, near(over, -1), -near(over, 1)]
    return (found + [f32(0.37 * i - 20) for i in range(256)])[-256:] if len(found) < 256 else found[:9] + found[-247:]


def encode(kind, value):
    """The nearest, ties to even; too large is infinity or NaN. Of powers of 2 alone ties go to the larger, and what is
    below the second is the least or the second."""
    if kind == "E8M0FNU":
        if not 0 < value < 1.5 * 2.0 ** 127:
            return 255
        if value < 2.0 ** -126:
            return int(value > 2.0 ** -127)
        fraction, exponent = math.frexp(value)
        return exponent + 126 + (fraction >= 0.75)
    _, _, infinity, nan = FLOATS[kind]
    negative = math.copysign(1, value) < 0
    if math.isnan(value):
        return None
    finite = [c for c in range(128) if math.isfinite(decode(kind, c))]
    largest = decode(kind, finite[-1])
    size = abs(value)
    limit = largest + (largest - decode(kind, finite[-2])) / 2
    if size > limit or (size == limit and finite[-1] & 1):
        return infinity | negative << 7 if infinity is not None else None
    best = min(finite, key=lambda c: (abs(decode(kind, c) - size), c & 1))
    if nan is None and best == 0:
        return 0
    return best | negative << 7


def make(directory, devices):
    os.makedirs(directory, exist_ok=True)
    data, records, tensors = b"", [], []

    def add(name, shape, dtype, part):
        nonlocal data
        records.append({"name": name, "shape": shape, "dtype": dtype, "format": "raw",
                        "nbytes": len(part), "byteOffset": len(data)})
        data += part

    text = f'spmd.mesh @m = <["x"={devices}]>\n'
    arguments, results = [], []

    def argument(name, stored, load, kind, sharding):
        arguments.append(f'%a{len(arguments)}: {kind} {{spmd.weight = "{stored}", spmd.name = "{name}", '
                         f'spmd.load = @{load}, spmd.sharding = #spmd.sharding<@m, {sharding}>}}')
        results.append(f'{kind} {{spmd.name = "{name}"}}')

    for k, (kind, dtype) in enumerate(NAMES.items()):
        element = "f8" + kind
        add(element, [32, 8], dtype, bytes(CODES))
        wide = ["f32", "f64", "f32", "bf16", "f32"][k]
        text += f"""func.func private @extend{kind}(%w: tensor<32x8x{element}>) -> tensor<8x32x{wide}> {{
  %e = tensor.empty() : tensor<8x32x{element}>
  %t = linalg.transpose ins(%w : tensor<32x8x{element}>) outs(%e : tensor<8x32x{element}>) permutation = [1, 0]
  %0 = arith.extf %t : tensor<8x32x{element}> to tensor<8x32x{wide}>
  return %0 : tensor<8x32x{wide}>
}}
"""
        argument("extend" + kind, element, "extend" + kind, f"tensor<8x32x{wide}>", ['[{"x"}, {}]', '[{}, {"x"}]'][k % 2])
    for kind in NAMES:
        add("round" + kind, [256], "float32", struct.pack("<256f", *numbers(kind)))
        text += f"""func.func private @round{kind}(%w: tensor<256xf32>) -> tensor<256xi8> {{
  %0 = arith.truncf %w : tensor<256xf32> to tensor<256xf8{kind}>
  %1 = tensor.bitcast %0 : tensor<256xf8{kind}> to tensor<256xi8>
  return %1 : tensor<256xi8>
}}
"""
        argument("round" + kind, "round" + kind, "round" + kind, "tensor<256xi8>", '[{"x"}]')
    # Two to a byte, the first in the low half.
    packed = bytes((a & 15) | (b & 15) << 4 for a, b in zip(NIBBLES[::2], NIBBLES[1::2]))
    add("nibbles", [6, 7], "int4", packed)
    text += """func.func private @join(%w: tensor<6x7xi4>) -> tensor<12x7xf32> {
  %c = tensor.concat dim(0) %w, %w : (tensor<6x7xi4>, tensor<6x7xi4>) -> tensor<12x7xi4>
  %0 = arith.sitofp %c : tensor<12x7xi4> to tensor<12x7xf32>
  return %0 : tensor<12x7xf32>
}
func.func private @unsigned(%w: tensor<6x7xi4>) -> tensor<6x7xi32> {
  %0 = arith.extui %w : tensor<6x7xi4> to tensor<6x7xi32>
  return %0 : tensor<6x7xi32>
}
"""
    argument("join", "nibbles", "join", "tensor<12x7xf32>", '[{"x"}, {}]')
    argument("unsigned", "nibbles", "unsigned", "tensor<6x7xi32>", '[{"x"}, {}]')
    names = ", ".join(f"%a{i}" for i in range(len(arguments)))
    kinds = ", ".join(result.split(" {")[0] for result in results)
    text += (f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
             f"  return {names} : {kinds}\n}}\n")
    with open(f"{directory}/program.mlir", "w") as file:
        file.write(text)
    with open(f"{directory}/params.bin", "wb") as file:
        file.write(data)
    with open(f"{directory}/tensor-cache.json", "w") as file:
        json.dump({"metadata": {}, "records": [
            {"dataPath": "params.bin", "format": "raw-shard", "nbytes": len(data), "records": records}]}, file)


def read(path, name):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        begin, end = header[name]["data_offsets"]
        file.seek(8 + length + begin)
        return header[name]["dtype"], file.read(end - begin)


def check(path):
    count = 0

    def expect(name, codes, wanted):
        nonlocal count
        kind, raw = read(path, name)
        if kind == "BF16":
            values = [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
        else:
            code = {"F32": "f", "F64": "d", "I32": "i", "I8": "B"}[kind]
            values = struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)
        assert len(values) == len(wanted), (name, len(values))
        for i, (a, b) in enumerate(zip(values, wanted)):
            same = math.isnan(a) if isinstance(b, float) and math.isnan(b) else (
                a == b and math.copysign(1, a) == math.copysign(1, b))
            assert same, f"{name}: element {i} is {a}, expected {b}"
            count += 1

    for kind in NAMES:
        values = [decode(kind, c) for c in CODES]
        expect("extend" + kind, CODES, [values[i * 8 + j] for j in range(8) for i in range(32)])
    for kind in NAMES:
        _, raw = read(path, "round" + kind)
        for code, value in zip(raw, numbers(kind)):
            wanted = encode(kind, value)
            same = math.isnan(decode(kind, code)) if wanted is None else code == wanted
            assert same, f"round{kind}: {value!r} gives {code:#x}, expected {wanted}"
            count += 1
    expect("join", None, [float(v) for v in NIBBLES + NIBBLES])
    expect("unsigned", None, [v & 15 for v in NIBBLES])
    print(count, "elements as expected")


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]))
else:
    check(sys.argv[2])
