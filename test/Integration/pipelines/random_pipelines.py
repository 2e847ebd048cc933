"""Random programs of gen_random.py in random microbatches and stages: each runs and equals the unsharded program bit by bit, or is refused by
one error of the pipeline's own. Prints how many did which, and those that did neither."""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import gen_random  # noqa: E402


def split(text):
    """The meshes by their names, and the functions, whose callees come before them."""
    meshes = {re.match(r"spmd.mesh @(\w+)", line)[1]: line for line in text.split("\n") if line.startswith("spmd.mesh")}
    body = "\n".join(line for line in text.split("\n") if not line.startswith("spmd.mesh"))
    return meshes, ("\n" + body).split("\nfunc.func @", 1)


def mark(rng, signature, count):
    """`spmd.microbatch` at arguments that have a dim of one size, which `count` divides; nothing where none has."""
    arguments = re.findall(r"(%arg\d+: tensor<([\dx]+)x[a-z]\w*>)", signature)
    sizes = sorted({int(d) for _, shape in arguments for d in shape.split("x") if int(d) % count == 0})
    if not sizes:
        return None
    size, marked = rng.choice(sizes), False
    for argument, shape in arguments:
        dims = [i for i, d in enumerate(shape.split("x")) if int(d) == size]
        if not dims or rng.random() > 0.9:
            continue
        attribute = f"spmd.microbatch = #spmd.microbatch<dim = {rng.choice(dims)}>"
        before, after = signature.split(argument, 1)
        signature = before + argument + (f" {{{attribute}, {after[2:]}" if after.startswith(" {") else f" {{{attribute}}}{after}")
        marked = True
    return signature if marked else None


def make(seed, i, is_tied):
    """A program and the options of its pipeline."""
    rng = random.Random(f"{seed}.{i}")
    text = "\n".join(gen_random.get_meshes(views=False)) + "\n" + gen_random.Function(rng, f"f{i}", tied=is_tied).build()
    meshes, (callees, *function) = split(text)
    if not function or "spmd.reference" in text or len(set(re.findall(r"<@(m\d+)", text))) != 1:
        return None
    mesh = re.search(r"<@(m\d+)", text)[1]
    count = rng.choice([2, 2, 3, 4])
    signature, body = function[0].split(" -> ", 1)
    signature = mark(rng, signature, count)
    if signature is None:
        return None
    options = f"cluster={mesh} microbatches={count}"
    if int(re.search(r'"\w"=(\d+)', meshes[mesh])[1]) % 2 == 0 and rng.random() < 0.5:
        options += " stages=uniform num-stages=2"
    return f"{meshes[mesh]}\n{callees}\nfunc.func @{signature} -> {body}", options


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, help="this program alone, which is kept")
    parser.add_argument("--tied", action="store_true", help="results update arguments, in their memory")
    parser.add_argument("-o", "--output", default="random-pipeline.mlir")
    args = parser.parse_args()
    environment = {k: v for k, v in os.environ.items() if k != "SK_RECORD"}
    ran, refused, failed = 0, 0, []
    for i in range(args.count):
        made = make(args.seed, i, args.tied) if args.only in (None, i) else None
        if made is None:
            continue
        program, options = made
        with open(args.output, "w") as file:
            file.write(program)

        def run():
            command = ["shard-run", args.output, f"--pipeline={options}", "--random-inputs=3", "--verify=exact", "--compile-option=--opt-level=0"]
            done = subprocess.run(command + ["--donate"] * args.tied, capture_output=True, text=True, env=environment)
            return done, re.findall(r"error: (.*)", done.stderr)

        done, errors = run()
        if done.returncode == 1 and " stages=" in options:  # few programs have several places
            options = options.split(" stages=")[0]
            done, errors = run()
        if done.returncode == 0:
            ran += 1
        elif done.returncode == 1 and len(errors) == 1 and re.match(r"(?!'\w+\.|specified type|shard-compile was ended)", errors[0]):
            refused += 1
        else:
            failed.append(f"{'--tied ' * args.tied}--seed {args.seed} --only {i} --count {i + 1}: {options}: {errors[0] if errors else done.stdout[-200:]}")
    print(*failed, f"{ran} ran, {refused} refused, {len(failed)} failed", sep="\n")


if __name__ == "__main__":
    main()
