#!/usr/bin/env python3
"""TFLOP/s of a square product of random numbers by a library alone, in one process, for devices.py.

    matmul.py cublaslt|torch '{"type": "bf16", "size": 8192, "products": 8, "steps": 20, "warm_up": 1.0}'

A step is some products one after the other, timed on the GPU around them; the median of those behind a second of them ("warm_up")
counts. cublaslt: cuBLASLt called as directly as can be, row by row as the runtime asks for it, with 32 MiB of workspace: the first
algorithm that its heuristic names, and the fastest of up to eight. torch: torch.mm by cuBLAS and by cuBLASLt. f32 is tf32 in both.
"""

import ctypes
import json
import os
import statistics
import sys
import time

TYPES = {"f32": (0, 4), "bf16": (14, 2)}  # cudaDataType, bytes
COMPUTE = {"f32": 77, "bf16": 68}  # CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F
WORKSPACE = 32 << 20
ALGORITHMS = 8


def median_of(step, steps, warm_up):
    """Of `steps` behind some that take `warm_up` seconds: a GPU that works lowers its clock."""
    step()
    begin = time.perf_counter()
    while time.perf_counter() - begin < warm_up:
        step()
    return statistics.median(step() for _ in range(steps))


def open_library(*names):
    """As the runtime does."""
    for folder in filter(None, os.environ.get("SK_CUDA_LIBRARY_PATH", "").split(":")):
        for name in names:
            if os.path.exists(os.path.join(folder, name)):
                return ctypes.CDLL(os.path.join(folder, name))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = error
    raise RuntimeError(f"this machine lacks {' or '.join(names)}: {reason}")


class Calls:
    """The functions of a library; what they return is a status."""

    def __init__(self, *names):
        self.library = open_library(*names)

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            status = function(*arguments)
            if status:
                raise RuntimeError(f"{name} returned {status}")

        return call


class Heuristic(ctypes.Structure):
    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float),
                ("reserved", ctypes.c_int * 4)]


def random_numbers(type, count):
    """Of either sign, from an eighth to 2: sign and high bits of the exponent by a table, all else as it comes."""
    size = TYPES[type][1]
    data = bytearray(os.urandom(count * size))
    data[size - 1::size] = data[size - 1::size].translate(bytes((b & 0x80) | (0x3E + (b & 1)) for b in range(256)))
    return bytes(data)


class Device:
    """The first GPU, its stream and two events."""

    def __init__(self):
        self.calls = cuda = Calls("libcuda.so.1")
        self.stream, self.events = ctypes.c_void_p(), [ctypes.c_void_p(), ctypes.c_void_p()]
        device, context = ctypes.c_int(), ctypes.c_void_p()
        cuda.cuInit(0)
        cuda.cuDeviceGet(ctypes.byref(device), 0)
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        cuda.cuCtxSetCurrent(context)
        cuda.cuStreamCreate(ctypes.byref(self.stream), 1)  # CU_STREAM_NON_BLOCKING
        for event in self.events:
            cuda.cuEventCreate(ctypes.byref(event), 0)

    def allocate(self, size):
        address = ctypes.c_void_p()
        self.calls.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def upload(self, data):
        address = self.allocate(len(data))
        self.calls.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data)))
        return address

    def seconds(self, step):
        """What `step` asks for takes."""
        begin, end = self.events
        self.calls.cuEventRecord(begin, self.stream)
        step()
        self.calls.cuEventRecord(end, self.stream)
        self.calls.cuEventSynchronize(end)
        milliseconds = ctypes.c_float()
        self.calls.cuEventElapsedTime(ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3


def time_cublaslt(case):
    device, lt = Device(), Calls("libcublasLt.so.13", "libcublasLt.so.12")
    size, count = case["size"], case["size"] ** 2
    kind, width = TYPES[case["type"]]
    handle, description, layout, preference = (ctypes.c_void_p() for _ in range(4))
    lt.cublasLtCreate(ctypes.byref(handle))
    lt.cublasLtMatmulDescCreate(ctypes.byref(description), COMPUTE[case["type"]], 0)  # scaled in f32
    lt.cublasLtMatrixLayoutCreate(ctypes.byref(layout), kind, ctypes.c_uint64(size), ctypes.c_uint64(size), ctypes.c_int64(size))
    lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
    most = ctypes.c_uint64(WORKSPACE)
    lt.cublasLtMatmulPreferenceSetAttribute(preference, 1, ctypes.byref(most), ctypes.c_size_t(8))  # MAX_WORKSPACE_BYTES
    found, number = (Heuristic * ALGORITHMS)(), ctypes.c_int()
    lt.cublasLtMatmulAlgoGetHeuristic(handle, description, layout, layout, layout, layout, preference, ALGORITHMS, found,
                                      ctypes.byref(number))
    algorithms = [each for each in found[:number.value] if each.state == 0]
    if not algorithms:
        raise RuntimeError("cuBLASLt has no algorithm")
    a, b = (device.upload(random_numbers(case["type"], count)) for _ in range(2))
    out, workspace = device.allocate(count * width), device.allocate(WORKSPACE)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def measure(algorithm, warm_up):
        def step():
            # The columns of one matrix are the rows of another: b before a is a times b by rows.
            for _ in range(case["products"]):
                lt.cublasLtMatmul(handle, description, ctypes.byref(one), b, layout, a, layout, ctypes.byref(zero), out, layout, out, layout,
                                  algorithm.algorithm, workspace, ctypes.c_size_t(WORKSPACE), device.stream)

        return median_of(lambda: device.seconds(step), case["steps"], warm_up)

    first = measure(algorithms[0], case["warm_up"])
    tried = [measure(algorithm, case["warm_up"] / 10) for algorithm in algorithms]
    fastest = tried.index(min(tried))
    return {"algorithms": len(algorithms), "fastest": fastest, "first_seconds": first, "seconds": measure(algorithms[fastest], case["warm_up"])}


def time_torch(case):
    import torch

    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[case["type"]]
    torch.set_float32_matmul_precision("high")  # tf32
    a, b = (torch.rand((case["size"],) * 2, device="cuda", dtype=kind) * 2 - 1 for _ in range(2))
    out = torch.empty_like(a)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def step():
        begin.record()
        for _ in range(case["products"]):
            torch.mm(a, b, out=out)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    found = {}
    for library in ("cublas", "cublaslt"):
        torch.backends.cuda.preferred_blas_library(library)
        found[library + "_seconds"] = median_of(step, case["steps"], case["warm_up"])
    return found | {"seconds": min(found.values())}


def main():
    peer, case = sys.argv[1:]
    try:
        print(json.dumps({"cublaslt": time_cublaslt, "torch": time_torch}[peer](json.loads(case))))
    except (RuntimeError, AttributeError, ImportError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
