"""What users are told."""


class ShardKitError(Exception):
    """One sentence about what is wrong and what was expected, perhaps with a place in front."""


def require(module: str, package: str, purpose: str) -> None:
    """Raises one sentence with the command that installs `package` where `module` cannot be imported."""
    import importlib.util

    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ShardKitError(f"{purpose} needs {package}, which is not installed, expected: pip install {package}")
