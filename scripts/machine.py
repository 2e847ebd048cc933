"""What a host has that GPU programs run on: NVIDIA's libraries, GPUs, processor, Pythons.

Nothing here fails: what cannot be found out is null. Whatever is asked is asked in a process
of its own.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

# Names as the runtime looks for them, and the function that returns the version.
LIBRARIES = {
    "libcuda": (["libcuda.so.1"], "cuDriverGetVersion"),
    "libcublasLt": (["libcublasLt.so.13", "libcublasLt.so.12"], "cublasLtGetVersion"),
    "libcudnn": (["libcudnn.so.9"], "cudnnGetVersion"),
    "libnccl": (["libnccl.so.2"], "ncclGetVersion"),
}
TOOLKITS = ("/usr/local/cuda/lib64", "/usr/local/cuda/targets/*-linux/lib", "/usr/local/cuda-1[0-9]*/lib64", "/opt/cuda/lib64")

# Of a Python: itself, its packages, and versions without importing anything.
OF_PYTHON = """
import importlib.metadata, json, os, platform, sys
found = {"path": sys.executable, "version": platform.python_version()}
for name in ("torch", "jax"):
    try:
        found[name] = importlib.metadata.version(name)
    except Exception:
        found[name] = None
print(json.dumps([found, [p for p in sys.path if p and os.path.isdir(p)]]))
"""
# Of a library: its version and where it was.
OF_LIBRARY = """
import ctypes, json, sys
path, names, function = json.loads(sys.argv[1])
library = None
for name in [path] if path else names:
    try:
        library = ctypes.CDLL(name)
        break
    except OSError as error:
        reason = str(error)
if library is None:
    print(json.dumps({"path": path, "version": None, "error": reason} if path else None))
    sys.exit()
if not path:
    with open("/proc/self/maps") as file:
        path = next((line.split()[-1] for line in file if name.rsplit(".so", 1)[0] + ".so" in line), name)
number = ctypes.c_int(0)
if function in ("cuDriverGetVersion", "ncclGetVersion"):
    getattr(library, function)(ctypes.byref(number))
    number = number.value
else:
    getattr(library, function).restype = ctypes.c_size_t
    number = getattr(library, function)()
version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
if function == "cuDriverGetVersion":
    version = f"{number // 1000}.{number % 1000 // 10}"
print(json.dumps({"path": path, "version": version}))
"""


def ask(command):
    """Its output; empty where it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
        return done.stdout if done.returncode == 0 else ""
    except (OSError, subprocess.SubprocessError):
        return ""


def ask_json(command):
    try:
        return json.loads(ask(command).strip().splitlines()[-1])
    except (IndexError, ValueError):
        return None


def find_pythons():
    """This one and `python3`, if that is another: what they are, and where their packages lie."""
    paths = [sys.executable, shutil.which("python3")]
    found = []
    for path in filter(None, paths):
        one = ask_json([path, "-c", OF_PYTHON])
        if one and one[0]["path"] not in (other["path"] for other, _ in found):
            found.append(one)
    return found


def has_any(folder, names):
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def find_folders(pythons):
    """Those with a library of NVIDIA's: of wheels, then of a toolkit; of one folder the newest CUDA first."""
    wanted = [name for library in ("libcublasLt", "libcudnn", "libnccl") for name in LIBRARIES[library][0]]
    places = [[folder for path in paths for folder in sorted(glob.glob(os.path.join(glob.escape(path), "nvidia", "*", "lib")))]
              for _, paths in pythons]
    places += [sorted(glob.glob(pattern), reverse=True) for pattern in TOOLKITS]
    newest = LIBRARIES["libcublasLt"][0][0]
    found = []
    for place in places:
        for folder in sorted(place, key=lambda f: not has_any(f, [newest])):
            if has_any(folder, wanted) and os.path.realpath(folder) not in map(os.path.realpath, found):
                found.append(folder)
    return found


def describe_library(library, folders, driver):
    names, function = LIBRARIES[library]
    if library == "libcublasLt" and driver and int(driver.split(".")[0]) < 13:  # as the runtime chooses
        names = names[1:]
    path = next((os.path.join(folder, name) for folder in folders for name in names
                 if os.path.exists(os.path.join(folder, name))), None)
    return ask_json([sys.executable, "-c", OF_LIBRARY, json.dumps([path, names, function])])


def describe_gpus():
    lines = ask(["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]).splitlines()
    return [dict(zip(("name", "memory", "driver"), (part.strip() for part in line.split(",")))) for line in lines]


def describe_processor():
    model = None
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), None)
    except OSError:
        pass
    return {"model": model, "cores": os.cpu_count()}


def find_sanitizer():
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")


def describe(environment):
    """What is written down; puts the folders that it finds into SK_CUDA_LIBRARY_PATH where that is not set."""
    pythons = find_pythons()
    if not environment.get("SK_CUDA_LIBRARY_PATH"):
        folders = find_folders(pythons)
        if folders:
            environment["SK_CUDA_LIBRARY_PATH"] = ":".join(folders)
    folders = [f for f in environment.get("SK_CUDA_LIBRARY_PATH", "").split(":") if f]
    driver = (describe_library("libcuda", folders, None) or {}).get("version")
    return {"processor": describe_processor(), "gpus": describe_gpus(), "library_path": folders,
            "libraries": {library: describe_library(library, folders, driver) for library in LIBRARIES},
            "compute_sanitizer": find_sanitizer(), "pythons": [python for python, _ in pythons]}
