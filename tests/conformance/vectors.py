"""Golden vectors: `OPS` of the module named after the system does each operation.

A module may hold `NORMAL` too: by operation, what brings two answers into one order where the
vectors leave the order open.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conformance.case import NotBuiltError
from conformance.compare import differences

if TYPE_CHECKING:
    from types import ModuleType


def run(vector: dict[str, Any]) -> list[str]:
    """Do the vector's operation and compare what came out."""
    system, op = vector["system"], vector["op"]
    module = _module(system)
    if op not in module.OPS:
        raise NotBuiltError(f"{system} {op}")
    actual = module.OPS[op](vector["input"])
    normal = getattr(module, "NORMAL", {}).get(op, _same)
    return differences(normal(vector["expected_output"]), normal(actual))


def _module(system: str) -> ModuleType:
    name = f"conformance.{system.replace('-', '_')}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise NotBuiltError(system) from None


def _same(value: Any) -> Any:
    return value
