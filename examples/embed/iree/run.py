#!/usr/bin/env python3
"""The program of a device, compiled by IREE. Its collectives are functions of a module `shardkit` that the program imports, and that this
script serves: each device is a thread with a context of IREE's runtime of its own. Prints how far results are from the unsharded program's.

    run.py [MODEL]    Needs: pip install numpy iree-base-compiler iree-base-runtime; shardkit on PYTHONPATH, SHARDKIT_HOME
"""

import itertools
import re
import sys
import threading
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np
from shardkit import ir

# The words of shardkit-c/Collectives.h in front of the digits and the loops.
HEADER = "version kind reduction type element_bytes id devices in_elements out_elements digits reduce loops spread segments source_order destination_order"
COMBINE = {0: np.add, 1: np.multiply, 5: np.maximum, 6: np.minimum}


def with_digit(ranks, stride, size, value):
    return ranks + (value - ranks // stride % size) * stride


def collect(words, rank, operands):
    """The result of a collective on `rank`, flat; `operands` are those of all ranks. Shards are even."""
    header = dict(zip(HEADER.split(), words))
    if header["segments"] or header["source_order"] or header["destination_order"]:
        raise ValueError("this example moves even shards on one mesh")
    at = 16 + 2 * header["digits"]
    reduced = words[at : at + 2 * header["reduce"]].reshape(-1, 2)
    at += 2 * header["reduce"]
    loops = words[at : at + 5 * header["loops"]].reshape(-1, 5)
    # 1. The rank and the element that each element of the result is read from.
    ranks, source, target = np.array([rank]), np.array([0]), np.array([0])
    for size, source_is_rank, source_stride, target_is_rank, target_stride in loops:
        steps = np.array([rank // target_stride % size]) if target_is_rank else np.arange(size)
        ranks, source, target = (np.repeat(v[:, None], len(steps), 1) for v in (ranks, source, target))
        if source_is_rank:
            ranks = with_digit(ranks, source_stride, size, steps)
        else:
            source = source + steps * source_stride
        if not target_is_rank:
            target = target + steps * target_stride
        ranks, source, target = ranks.ravel(), source.ravel(), target.ravel()
    # 2. All ranks that are combined, in rising order.
    total = None
    digits = sorted(map(tuple, reduced), reverse=True)
    for values in itertools.product(*[range(size) for _, size in digits]):
        peers = ranks
        for (stride, size), value in zip(digits, values):
            peers = with_digit(peers, stride, size, value)
        elements = np.stack(operands)[peers, source]
        total = elements if total is None else COMBINE[header["reduction"]](total, elements)
    result = np.empty(header["out_elements"], operands[rank].dtype)
    result[target] = total
    return result


class Exchange:
    """Where the threads of all devices meet: each gives its operand, and reads those of all."""

    def __init__(self, devices):
        self.operands = [None] * devices
        self.barrier = threading.Barrier(devices)

    def run(self, words, rank, operand):
        self.operands[rank] = operand
        self.barrier.wait()
        result = collect(words, rank, self.operands)
        self.barrier.wait()
        return result


def serve(text, config, rank, exchange):
    """The module `shardkit` of a device, with the functions that its program declares."""

    def read(reference):
        view = reference.deref(iree.runtime.HalBufferView)
        return view, iree.runtime.DeviceArray(config.device, view).to_host()

    declared = dict(re.findall(r"func\.func private @shardkit\.(\w+)\(.*\) -> (.*)", text))
    functions = {}

    def define(name, type):
        shape = [int(n) for n in re.findall(r"\d+(?=x)", type)]

        def call(_, descriptor, operand):
            view, values = read(operand)
            result = exchange.run(read(descriptor)[1], rank, values.ravel().copy()).reshape(shape)
            buffer = config.device.allocator.allocate_buffer_copy(
                memory_type=iree.runtime.MemoryType.DEVICE_LOCAL, allowed_usage=iree.runtime.BufferUsage.DEFAULT,
                device=config.device, buffer=np.ascontiguousarray(result), element_type=view.element_type)  # fmt: skip
            return buffer.ref

        functions[name] = call

    for name, type in declared.items():
        if name != "rank":
            define(name, type)
    module = iree.runtime.PyModuleInterface("shardkit", lambda _: object())
    for name, call in functions.items():
        module.export(name, "0rr_r", call)
    module.export("rank", "0v_I", lambda _: rank)
    return module.create()


def load(text):
    """A module of IREE, and what makes contexts for it."""
    return iree.compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])


def call(binary, arguments, make_modules=lambda config: []):
    config = iree.runtime.Config("local-sync")
    context = iree.runtime.SystemContext(config=config)
    for module in make_modules(config):
        context.add_vm_module(module)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(config.vm_instance, binary))
    (function,) = context.modules.module.vm_module.function_names[:1]
    return context.modules.module[function](*arguments).to_host()


def find_owned(module, sharding, type, rank):
    """The elements of a tensor that a rank has, as an index of NumPy's, in the order of its shard."""
    shape = [int(n) for n in re.findall(r"\d+(?=x)", type)]
    local = [int(n) for n in re.findall(r"\d+(?=x)", module.local_type(sharding, type))]
    owned = [index for index in np.ndindex(*shape) if rank in module.owners(sharding, type, index)]
    return tuple(np.array(owned).T.reshape(len(shape), *local))


def main():
    model = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("mlp.mlir")).read_text()
    unsharded = ir.parse(model).run("spmd-strip")
    (types,) = unsharded.functions.values()
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal([int(n) for n in re.findall(r"\d+(?=x)", a.type)], np.float32) for a in types.arguments]
    wanted = call(load(str(unsharded)), arguments)

    local = ir.parse(model).run("spmd-default-pipeline")
    (signature,) = local.functions.values()
    layouts = [a.sharding for a in (*signature.arguments, *signature.results)]
    local.run("convert-spmd-to-calls", tensors=True)
    mesh = ir.parse(str(local))  # which --spmd-strip removes
    text = str(local.run("spmd-strip"))
    devices = len(mesh.owners(re.sub(r"\[.*\]>", "[]>", layouts[0]), "tensor<f32>", []))
    binary, exchange = load(text), Exchange(devices)
    results, errors = [None] * devices, []

    def run(rank):
        try:
            shards = [a[find_owned(mesh, s, t.type, rank)] for a, s, t in zip(arguments, layouts, types.arguments)]
            results[rank] = call(binary, shards, lambda config: [serve(text, config, rank, exchange)])
        except Exception as error:
            errors.append(error)
            exchange.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    calls = len(re.findall(r"call @shardkit\.", text))
    differs = max(float(np.abs(r - wanted[find_owned(mesh, layouts[-1], types.results[0].type, k)]).max()) for k, r in enumerate(results))
    print(f"{devices} devices, {calls} collective{'s' if calls != 1 else ''} in the program of each, largest difference from the unsharded program: {differs:.1e}")
    return 0 if differs <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
