#!/usr/bin/env python3
"""All that is measured on a host with GPUs, made on one with the compiler.

    devices.py export DIR [--chip sm_90] [--python PYTHON] [--small]    needs the compiler; PYTHON has JAX, for the steps
    devices.py run DIR [--json FILE] [--shard-run FILE] [--parts PARTS] [--minutes M] [--weights model.safetensors] [--peers jax,torch]
                   [--option OPTION]...

bandwidth: a fused elementwise function and a copy. matmul: TFLOP/s of square products beside cuBLASLt called directly and PyTorch
(matmul.py). attention: TFLOP/s by cuDNN and by the runtime's kernel. minilm: embeddings against the unsharded program on the processor,
in ieee and tf32, of its own weights where --weights has them. steps: of MiniLM, a GPT block (hidden 4096, 32 heads, sequence 2048,
batch 8, bf16) and a chain of products beside JAX and PyTorch where they are installed, and the library's rate of products
(steps/steps.py). loader: GB/s to the devices. collectives: algbw and busbw, of logical devices on the GPUs there are, and of NCCL where
there is a GPU for each. What fails is in the JSON with its message, and the rest is run. The JSON is written as results come; "not_run"
in it names the parts that have not come to their end: nothing begins after --minutes, and what is under way then has one more minute.
--small: sizes for emulated devices.
"""

import argparse
import importlib.util
import json
import os
import platform
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts"))
from processes import Children, Clock  # noqa: E402

PARTS = ("bandwidth", "matmul", "attention", "minilm", "steps", "loader", "collectives")
LOADED = 8  # Weights of the loader.
STEPS = 20  # Of products, attention and elementwise functions.
WARM_UP = 1.0  # Seconds of steps before those that count: a GPU that works lowers its clock.
TIMEOUT = 300  # Seconds of a run of shard-run.


def check(status, output):
    """What a process wrote, unless it failed."""
    if status is None:
        raise RuntimeError("did not end in time")
    if status:
        lines = output.strip().splitlines() or [f"ended with {status}"]
        raise RuntimeError(next((line for line in lines if "error" in line), lines[-1])[:500])
    return output


def call(command, env=None):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return check(done.returncode, done.stdout)


# Programs


def copy_program(type, count):
    return f"func.func @main(%x: tensor<{count}x{type}>) -> tensor<{count}x{type}> {{\n  return %x : tensor<{count}x{type}>\n}}\n"


def fused_program(type, count):
    """(x * s + y) / (1 + x x): two tensors read, one written."""
    t = f"tensor<{count}x{type}>"
    return f"""func.func @main(%x: {t}, %y: {t}) -> {t} {{
  %s = arith.constant dense<0.75> : {t}
  %one = arith.constant dense<1.0> : {t}
  %a = arith.mulf %x, %s : {t}
  %b = arith.addf %a, %y : {t}
  %c = arith.mulf %x, %x : {t}
  %d = arith.addf %c, %one : {t}
  %r = arith.divf %b, %d : {t}
  return %r : {t}
}}
"""


def matmul_program(type, size, products):
    """One after the other, each of what the last one gave."""
    t = f"tensor<{size}x{size}x{type}>"
    lines = [f"  %r{i + 1} = linalg.matmul ins(%r{i}, %w : {t}, {t}) outs(%start : {t}) -> {t}" for i in range(products)]
    body = "\n".join(lines)
    return f"""func.func @main(%r0: {t}, %w: {t} {{spmd.weight = "w"}}) -> {t} {{
  %zero = arith.constant 0.0 : {type}
  %empty = tensor.empty() : {t}
  %start = linalg.fill ins(%zero : {type}) outs(%empty : {t}) -> {t}
{body}
  return %r{products} : {t}
}}
"""


def attention_program(heads, length, head):
    """Of bf16, with a causal mask; scores in f32."""
    rows, scores = f"tensor<{heads}x{length}x{head}x", f"tensor<{heads}x{length}x{length}x"
    maps = "affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>"
    each = 'indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]'

    def rounded(value, to, type):
        return f"""  %{to}_to = tensor.empty() : {type}bf16>
  %{to} = linalg.generic {{{each}}} ins(%{value} : {type}f32>) outs(%{to}_to : {type}bf16>) {{
  ^bb0(%x: f32, %y: bf16):
    %r = arith.truncf %x : f32 to bf16
    linalg.yield %r : bf16
  }} -> {type}bf16>"""

    return f"""func.func @main(%q: {rows}bf16>, %k: {rows}bf16>, %v: {rows}bf16>) -> {rows}bf16> {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant {head ** -0.5:.8f} : f32
  %masked = arith.constant 0xFF800000 : f32
  %scores_empty = tensor.empty() : {scores}f32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : {scores}f32>) -> {scores}f32>
  %products = linalg.batch_matmul indexing_maps = [{maps}] ins(%q, %k : {rows}bf16>, {rows}bf16>) outs(%scores_zero : {scores}f32>) -> {scores}f32>
  %scores = linalg.generic {{{each}}} ins(%products : {scores}f32>) outs(%scores_empty : {scores}f32>) {{
  ^bb0(%x: f32, %y: f32):
    %query = linalg.index 1 : index
    %key = linalg.index 2 : index
    %scaled = arith.mulf %x, %scale : f32
    %seen = arith.cmpi sge, %query, %key : index
    %r = arith.select %seen, %scaled, %masked : f32
    linalg.yield %r : f32
  }} -> {scores}f32>
  %chances = linalg.softmax dimension(2) ins(%scores : {scores}f32>) outs(%scores_empty : {scores}f32>) -> {scores}f32>
{rounded("chances", "weights", scores)}
  %out_empty = tensor.empty() : {rows}f32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : {rows}f32>) -> {rows}f32>
  %sums = linalg.batch_matmul ins(%weights, %v : {scores}bf16>, {rows}bf16>) outs(%out_zero : {rows}f32>) -> {rows}f32>
{rounded("sums", "out", rows)}
  return %out : {rows}bf16>
}}
"""


def loader_program(rows, columns):
    t = f"tensor<{rows}x{columns}xf32>"
    names = ", ".join(f'%w{i}: {t} {{spmd.sharding = #spmd.sharding<@m, [{{"x"}}, {{}}]>, spmd.weight = "w{i}"}}' for i in range(LOADED))
    lines = [f"  %s{i} = tensor.extract_slice %w{i}[0, 0] [1, 8] [1, 1] : {t} to tensor<1x8xf32>" for i in range(LOADED)]
    results = ", ".join(f"%s{i}" for i in range(LOADED))
    types = ", ".join(["tensor<1x8xf32>"] * LOADED)
    body = "\n".join(lines)
    return f'spmd.mesh @m = <["x"=2]>\nfunc.func @main({names}) -> ({types}) {{\n{body}\n  return {results} : {types}\n}}\n'


def export(options):
    folder = Path(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    compiler = ROOT / "build" / "bin" / "shard-compile"
    # Host code for processors of the last ten years, not for the one that compiles.
    target = ["--target=cuda", f"--chip={options.chip}"] + ["--mcpu=x86-64-v3"] * (platform.machine() == "x86_64")
    known = {"chip": options.chip, "warm_up": 0 if options.small else WARM_UP, "left_out": {},
             "bandwidth": [], "matmul": [], "attention": [], "collectives": []}

    def compile_text(text, to, *more):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
            source.write(text)
            source.flush()
            call([compiler, source.name, "-o", folder / to, *target, *more])

    count = 1 << (12 if options.small else 27)
    for type, size in (("f32", 4), ("bf16", 2)):
        for name, program, tensors in (("copy", copy_program, 2), ("fused", fused_program, 3)):
            compile_text(program(type, count), f"{name}-{type}")
            known["bandwidth"].append({"bundle": f"{name}-{type}", "kind": name, "type": type, "bytes": tensors * size * count})
    # As many products as take some milliseconds: that a step is started from the host counts little.
    for type, size, products in (("bf16", 64, 3), ("f32", 64, 3)) if options.small else (("bf16", 8192, 8), ("bf16", 4096, 32), ("f32", 4096, 16)):
        compile_text(matmul_program(type, size, products), f"matmul-{type}-{size}")
        known["matmul"].append({"bundle": f"matmul-{type}-{size}", "type": type, "size": size, "products": products})
    # Those of a GPT block (32 heads, batch 8), of a longer sequence, and of smaller heads.
    for heads, length, head in ((4, 32, 16),) if options.small else ((256, 2048, 128), (64, 8192, 128), (256, 2048, 64)):
        compile_text(attention_program(heads, length, head), f"attention-{length}-{head}")
        # The half of the scores that the mask leaves.
        known["attention"].append({"bundle": f"attention-{length}-{head}", "heads": heads, "length": length, "head": head,
                                   "flops": 2 * heads * length * (length + 1) * head})
    known["rows"], known["columns"] = (64, 32) if options.small else (8192, 4096)
    compile_text(loader_program(known["rows"], known["columns"]), "loader")
    call([compiler, ROOT / "examples/minilm/minilm.mlir", "-o", folder / "minilm", "--with-reference", *target])
    sizes = "4096" if options.small else "65536,1048576,16777216,134217728"
    for devices in (2,) if options.small else (1, 2, 4, 8):
        call([sys.executable, ROOT / "benchmarks/collectives.py", "--target=cuda", f"--devices={devices}", f"--sizes={sizes}",
              "--copies=4", "--export", folder / f"collectives-{devices}"])
        known["collectives"].append(devices)
    cases = ["minilm", "gpt_block:hidden=4096,heads=32,length=2048,batch=8,dtype=bf16", "chain:rows=8192,width=8192,dtype=bf16"]
    if options.small:
        cases = ["gpt_block:hidden=64,heads=2,length=32,batch=1,dtype=bf16"]
    packages = {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")])),
                "SHARDKIT_HOME": os.environ.get("SHARDKIT_HOME", str(ROOT / "build"))}
    try:
        call([options.python, ROOT / "benchmarks/steps/steps.py", "export", folder / "steps", "--target=cuda", f"--chip={options.chip}",
              *(f"--case={case}" for case in cases), *["--width=64"] * options.small], os.environ | packages)
    except (RuntimeError, OSError) as error:
        shutil.rmtree(folder / "steps", ignore_errors=True)
        known["left_out"]["steps"] = str(error)
    (folder / "benchmarks.json").write_text(json.dumps(known, indent=1) + "\n")
    for name, reason in known["left_out"].items():
        print(f"benchmarks: {name} left out: {reason}")


# Runs


def load_collectives():
    spec = importlib.util.spec_from_file_location("collectives", ROOT / "benchmarks/collectives.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TimeIsOver(Exception):
    pass


class Runs:
    """Each part returns what it found, or writes it into `found` as it goes, so that it is there if the time is over."""

    def __init__(self, options):
        self.options, self.folder = options, Path(options.folder)
        self.known = json.loads((self.folder / "benchmarks.json").read_text())
        self.clock, self.children = Clock(options.minutes), Children()
        self.result = {"gpus": options.gpus, "seconds": {}, "not_run": options.parts.split(",")}

    def write(self):
        if self.options.json:
            part = Path(self.options.json + ".part")
            part.write_text(json.dumps(self.result, indent=1) + "\n")
            part.replace(self.options.json)

    def call(self, command, timeout=TIMEOUT):
        """What it prints. With what is found so far written down before."""
        self.write()
        if self.clock.is_over():
            raise TimeIsOver
        status, out, err = self.children.run(command, self.clock.bound(timeout))
        if status is None and self.clock.is_over():
            raise TimeIsOver
        return check(status, out if status == 0 else err + out)

    def run(self, bundle, *more):
        """What the report says of the run."""
        with tempfile.TemporaryDirectory() as work:
            report = Path(work, "report.json")
            self.call([self.options.shard_run, self.folder / bundle, "--random-inputs=1", f"--report={report}", *self.options.option, *more])
            whole = json.loads(report.read_text())["run"]
            # With what was not done as was hoped for.
            return whole["functions"][0] | {key: whole[key] for key in ("products", "graphs_failed") if key in whole}

    def fastest(self, bundle, *more, repeat=STEPS):
        return self.run(bundle, f"--repeat={repeat}", *more)["steps"]["min_seconds"]

    def sustained(self, bundle, least, *more):
        """What is reported, with the median of the steps behind some that warm up long enough if each takes `least` seconds."""
        ran = self.run(bundle, f"--repeat={min(5000, int(self.known['warm_up'] / least)) + STEPS}", *more)
        return ran | {"seconds": statistics.median(ran["steps"]["seconds"][-STEPS:])}

    def bandwidth(self, found):
        """Beside the better copy of those with and without a graph."""
        rates = {}
        for case in self.known["bandwidth"]:
            entry = found.setdefault(case["type"], {})
            kind, least = case["kind"], case["bytes"] / 5e12
            seconds = self.sustained(case["bundle"], least)["seconds"]
            if kind == "copy":
                ungraphed = self.sustained(case["bundle"], least, "--no-graphs")["seconds"]
                entry |= {"copy_with_graph_gb_per_s": case["bytes"] / seconds / 1e9,
                          "copy_without_graph_gb_per_s": case["bytes"] / ungraphed / 1e9}
                seconds = min(seconds, ungraphed)
            rate = case["bytes"] / seconds / 1e9
            entry[f"{kind}_gb_per_s"] = rates[case["type"], kind] = rate
            if kind == "fused":
                entry["fused_of_copy"] = rate / rates[case["type"], "copy"]

    def matmul(self, found):
        """Ours and cuBLASLt's own, in turns, and PyTorch's."""
        def flops(case):
            return 2 * case["size"] ** 3 * case["products"]

        def ours(case, *more):
            ran = self.sustained(case["bundle"], flops(case) / (500e12 if case["type"] == "f32" else 1000e12), "--matmul-precision=tf32", *more)
            return {key: ran[key] for key in ("seconds", "products", "graphs_failed") if key in ran}

        programs = {"ours": ours, "tuned": lambda case: ours(case, "--tune")}
        for peer in ("cublaslt", "torch"):
            programs[peer] = lambda case, peer=peer: json.loads(self.call(
                [sys.executable, ROOT / "benchmarks/matmul.py", peer, json.dumps(case | {"steps": STEPS, "warm_up": self.known["warm_up"]})]))
        for case in self.known["matmul"]:
            entry = {"type": "tf32" if case["type"] == "f32" else case["type"], "size": case["size"], "products": case["products"]}
            found.append(entry)
            for turn in range(self.options.rounds):
                for who, measure in programs.items():
                    if "error" in entry.get(who, {}) or (turn and who == "torch"):
                        continue
                    try:
                        each = measure(case)
                    except (RuntimeError, OSError, ValueError) as error:
                        entry[who] = {"error": str(error)}
                        continue
                    if who not in entry or each["seconds"] < entry[who]["seconds"]:
                        entry[who] = each | {"tflops": flops(case) / each["seconds"] / 1e12}
                        if "first_seconds" in each:
                            entry[who]["first_tflops"] = flops(case) / each["first_seconds"] / 1e12
            for peer in ("cublaslt", "torch"):
                for who in ("ours", "tuned"):
                    if "seconds" in entry[who] and "seconds" in entry[peer]:
                        entry[f"{who}_of_{peer}"] = entry[peer]["seconds"] / entry[who]["seconds"]

    def attention(self, found):
        """By cuDNN and by the runtime's kernel; what cuDNN's lacks, and why, is in the entry."""
        for case in self.known["attention"]:
            entry = {key: case[key] for key in ("heads", "length", "head")}
            found.append(entry)
            for engine in ("cudnn", "kernel"):
                try:
                    seconds = self.sustained(case["bundle"], case["flops"] / 1000e12, f"--attention={engine}")["seconds"]
                    entry[engine] = {"seconds": seconds, "tflops": case["flops"] / seconds / 1e12}
                except RuntimeError as error:
                    entry[engine] = {"error": str(error)}

    def collectives(self, found):
        """Where devices share a GPU, or there is one alone, of the largest size only."""
        link = load_collectives().LINK
        for devices in self.known["collectives"]:
            part = f"collectives-{devices}"
            backends = {"local": []}
            if devices == 1 or devices <= self.options.gpus:
                backends["nccl"] = ["--devices-per-process=auto"]
            cases = json.loads((self.folder / part / "collectives.json").read_text())
            if devices == 1 or devices > self.options.gpus:
                cases = list({case["kind"]: case for case in sorted(cases, key=lambda case: case["size"])}.values())
            for backend, more in backends.items():
                for case in cases:
                    entry = {"kind": case["kind"], "backend": backend, "devices": devices, "bytes": case["size"]}
                    try:
                        seconds = self.fastest(f"{part}/{case['bundle']}", f"--backend={backend}", *more, repeat=10) / case["copies"]
                        rate = case["size"] / seconds / 1e9
                        entry |= {"seconds": seconds, "algbw_gb_per_s": rate, "busbw_gb_per_s": rate * link[case["kind"]](devices)}
                    except RuntimeError as error:
                        entry["error"] = str(error)
                    found.append(entry)

    def loader(self, found):
        rows, columns = self.known["rows"], self.known["columns"]
        size = rows * columns * 4
        names = [f"w{i}" for i in range(LOADED)]
        table = {n: {"dtype": "F32", "shape": [rows, columns], "data_offsets": [i * size, (i + 1) * size]} for i, n in enumerate(names)}
        header = json.dumps(table).encode()
        block = os.urandom(1 << 20)
        with tempfile.NamedTemporaryFile(suffix=".safetensors", dir=self.folder) as file:
            file.write(struct.pack("<Q", len(header)) + header)
            for at in range(0, LOADED * size, len(block)):
                file.write(block[:min(len(block), LOADED * size - at)])
            file.flush()
            os.fsync(file.fileno())
            loads = [self.run("loader", f"--weights={file.name}")["load"] for _ in range(3)]
        best = min(loads, key=lambda load: load["seconds"])
        if sum(best["bytes_read"]) != LOADED * size:
            raise RuntimeError(f"{best['bytes_read']} bytes were read, expected {LOADED * size} in all")
        found |= {"bytes": LOADED * size, "seconds": best["seconds"], "gb_per_s": LOADED * size / best["seconds"] / 1e9, "mode": best["mode"]}

    def minilm(self, found):
        found["weights"] = self.options.weights or "random"
        example = ROOT / "examples/minilm"
        inputs = [f"--weights={self.options.weights}", *(f"--input={n}={example / n}.npy" for n in ("input_ids", "attention_mask"))]
        for precision, tolerance in (("ieee", 1e-5), ("tf32", 1e-3)):
            try:
                seconds = self.fastest("minilm", "--verify", f"--rtol={tolerance}", f"--matmul-precision={precision}",
                                       *(inputs if self.options.weights else ()), repeat=5)
                found[precision] = {"passed": True, "rtol": tolerance, "seconds": seconds}
            except RuntimeError as error:
                found[precision] = {"passed": False, "rtol": tolerance, "error": str(error)}

    def steps(self, found):
        if not (self.folder / "steps").exists():
            raise RuntimeError(self.known["left_out"].get("steps", "not exported"))
        if self.clock.is_over():
            raise TimeIsOver
        peers = found["peers"] = [p for p in filter(None, self.options.peers.split(",")) if importlib.util.find_spec(p)]
        with tempfile.TemporaryDirectory() as work:
            report = Path(work, "report.json")
            command = [sys.executable, ROOT / "benchmarks/steps/steps.py", "run", self.folder / "steps", f"--shard-run={self.options.shard_run}",
                       f"--json={report}", f"--rounds={self.options.rounds}", f"--steps={STEPS}", *(f"--peer={p}" for p in peers),
                       *(f"--option={o}" for o in self.options.option)]
            if self.clock.end is not None:
                command.append(f"--minutes={self.clock.minutes_left():.3f}")
            # It ends in time itself.
            status, out, err = self.children.run(command)
            if not report.exists():
                check(status or None, err + out)
            found |= {"table": out.strip().splitlines(), "cases": json.loads(report.read_text())}
        if self.clock.is_over():
            raise TimeIsOver


def run(options):
    runs = Runs(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for name in list(runs.result["not_run"]):
            if runs.clock.is_over():
                break
            begin = time.monotonic()
            found = runs.result[name] = [] if name in ("matmul", "attention", "collectives") else {}
            how = "done"
            try:
                getattr(runs, name)(found)
                runs.result["not_run"].remove(name)
            except TimeIsOver:
                how = "not to its end, as the time is over"
            except (RuntimeError, OSError, KeyError, ValueError) as error:
                runs.result[name] = {"error": str(error)} | ({"found": found} if found else {})
                runs.result["not_run"].remove(name)
                how = str(error)
            runs.result["seconds"][name] = round(time.monotonic() - begin, 1)
            runs.write()
            print(f"benchmarks: {name}: {how}, {runs.result['seconds'][name]:.0f} s", flush=True)
    finally:
        runs.children.end()
    runs.write()
    for name in runs.result["not_run"]:
        if name not in runs.result["seconds"]:
            print(f"benchmarks: {name}: not run", flush=True)


def count_gpus():
    try:
        return len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines())
    except OSError:
        return int(os.environ.get("SK_EMU_DEVICES", "0"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    exporting = commands.add_parser("export")
    exporting.add_argument("folder")
    exporting.add_argument("--chip", default="sm_90")
    exporting.add_argument("--python", default=str(ROOT / "build/frontends/bin/python"))
    exporting.add_argument("--small", action="store_true")
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--json")
    running.add_argument("--shard-run", default=str(ROOT / "build/bin/shard-run"))
    running.add_argument("--weights")
    running.add_argument("--parts", default=",".join(PARTS))
    running.add_argument("--minutes", type=float)
    running.add_argument("--rounds", type=int, default=1, help="of products and steps: the better one counts")
    running.add_argument("--peers", default="jax,torch")
    running.add_argument("--gpus", type=int, default=count_gpus())
    running.add_argument("--option", action="append", default=[], help="for shard-run")
    options = parser.parse_args()
    for part in options.parts.split(",") if options.command == "run" else ():
        if part not in PARTS:
            parser.error(f"--parts: {part}, expected of {', '.join(PARTS)}")
    (export if options.command == "export" else run)(options)


if __name__ == "__main__":
    main()
