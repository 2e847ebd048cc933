"""Configuration of the lit tests; test/lit.site.cfg.py.in supplies the paths."""

import os
import sys
import platform
import shutil
import subprocess

import lit.formats

config.name = "ShardKit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.shardkit_obj_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.shardkit_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
# Every test compiles for itself.
config.environment["SHARDKIT_CACHE"] = "off"
# SK_RECORD: scripts/test keeps what numeric tests run, for scripts/mpi-suite.
for name in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SK_RECORD"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def imports_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0


# NumPy comes from the distribution's packages, which another Python on PATH does not see.
numpy_python = config.python
if not imports_numpy(numpy_python) and os.path.exists("/usr/bin/python3"):
    numpy_python = "/usr/bin/python3"
config.substitutions.append(("%numpy-python", numpy_python))
config.substitutions.append(("%python", config.python))
# Devices that need no GPU, for tests of the cuda target.
emulated_cuda = os.path.join(config.shardkit_obj_root, "emulated-cuda")
config.substitutions.append(("%on-emulated-cuda", f"env SK_CUDA_LIBRARY_PATH={emulated_cuda}"))
config.substitutions.append(("%emulated-cuda", emulated_cuda))
config.substitutions.append(("%shardkit_src", config.shardkit_src_root))
config.substitutions.append(("%shardkit_build", config.shardkit_obj_root))


def get_executable(python):
    """The interpreter itself, where a version manager's script stands for it, which would change PATH."""
    return subprocess.run([python, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True).stdout.strip()


# The consoles of docs/guides: %check-guide PAGE, in the environment that the pages describe. What they run is not
# recorded, since other tests run the same programs.
frontends = os.path.join(config.shardkit_obj_root, "frontends", "bin")
# IREE's wheels, which scripts/test-frontends installs.
frontends_python = os.path.join(frontends, "python")
config.substitutions.append(("%frontends-python", frontends_python))


def has_iree():
    code = "from importlib.util import find_spec; assert find_spec('iree') and find_spec('iree.compiler') and find_spec('iree.runtime')"
    return os.path.exists(frontends_python) and subprocess.run([frontends_python, "-c", code], capture_output=True).returncode == 0


guide_path = [frontends, config.shardkit_tools_dir, os.path.dirname(get_executable(numpy_python)), config.environment["PATH"]]
guide_environment = {
    "PATH": os.pathsep.join(guide_path),
    "SHARDKIT": config.shardkit_src_root,
    "SHARDKIT_HOME": config.shardkit_obj_root,
    "PYTHONPATH": os.path.join(config.shardkit_src_root, "python"),
    "JAX_PLATFORMS": "cpu",
    "OMPI_ALLOW_RUN_AS_ROOT": 1,
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
    "OMPI_MCA_rmaps_base_oversubscribe": 1,
    "OMPI_MCA_mpi_yield_when_idle": 1,
}
guide_environment = " ".join(f"{name}={value}" for name, value in guide_environment.items())
check_console = f"{get_executable(config.python)} {config.shardkit_src_root}/test/Docs/check_console.py"
config.substitutions.append(("%check-guide", f"env -u SK_RECORD {guide_environment} {check_console}"))


def has_gpu():
    """True if this machine has an NVIDIA GPU whose driver answers."""
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    return subprocess.run([smi, "-L"], capture_output=True, timeout=60).returncode == 0


def has_frontend(module):
    """True if scripts/test-frontends has installed the framework. Importing it would take seconds."""
    python = os.path.join(frontends, "python")
    find = f"from importlib.util import find_spec as f; exit(not (f('{module}') and f('torch_mlir')))"
    return os.path.exists(python) and subprocess.run([python, "-c", find], capture_output=True).returncode == 0


# An editor, and what docs/guides/Editors.md has for its version: inlay hints came with 0.10, the settings of the page with 0.11.
nvim = shutil.which("nvim")
if nvim:
    version = subprocess.run([nvim, "--version"], capture_output=True, text=True).stdout
    is_old = tuple(map(int, version.split()[1].lstrip("v").split(".")[:2])) < (0, 11)
    config.substitutions.append(("%nvim-checks", "CHECK" if is_old else "CHECK,HINTS"))
    config.substitutions.append(("%nvim-init", "init-0.7.lua" if is_old else "init.lua"))
    config.substitutions.append(("%nvim", nvim))

# Features that tests name in REQUIRES. `--param=features=a,b` adds more.
FEATURES = {
    "cuda": has_gpu,
    "emulated-cuda": lambda: os.path.isdir(emulated_cuda),
    "jax": lambda: has_frontend("jax"),
    "torch": lambda: has_frontend("torch"),
    "transformers": lambda: has_frontend("transformers"),
    # The runtime's module, and what starts processes.
    "mpi": lambda: bool(shutil.which("mpirun"))
    and os.path.exists(os.path.join(config.shardkit_obj_root, "lib", "libshardkit_mpi.so")),
    "mpich": lambda: bool(shutil.which("mpiexec.mpich") and shutil.which("mpicc.mpich")),
    "browser": lambda: bool(shutil.which("chromium")),
    "nvim": lambda: bool(nvim),
    # Bundles that are kept have programs for it.
    "x86_64": lambda: platform.machine() == "x86_64" and sys.platform == "linux",
    "iree": has_iree,
    "numpy": lambda: imports_numpy(config.python),
    "numpy-python": lambda: imports_numpy(numpy_python),
}
for feature, present in FEATURES.items():
    if present():
        config.available_features.add(feature)
for tool in ("shard-compile", "shard-run", "shard-weights", "shard-test-opt"):
    if os.path.exists(os.path.join(config.shardkit_tools_dir, tool)):
        config.available_features.add(tool)
for feature in filter(None, lit_config.params.get("features", "").split(",")):
    config.available_features.add(feature)
