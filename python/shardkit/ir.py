"""IR in this process, over the compiler's C API: parse, run passes, read shardings, diagnostics and reports.

    module = shardkit.ir.parse(text)
    module.run("spmd-propagate", conflicts="basic")
    module.functions["main"].arguments[0].sharding       # '#spmd.sharding<@pod, [{"x"}, {}]>'
    module.local_type('#spmd.sharding<@pod, [{"x"}, {}]>', "tensor<8x16xf32>")
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from .compiler import load_library
from .errors import ShardKitError


class _Handle(ctypes.Structure):
    """Any object of MLIR's C API: a pointer."""

    _fields_ = [("pointer", ctypes.c_void_p)]


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.length).decode(errors="replace")


class _Result(ctypes.Structure):
    """MlirLogicalResult."""

    _fields_ = [("succeeded", ctypes.c_int8)]


class _Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _Tensor(ctypes.Structure):
    _fields_ = [("type", _Handle), ("elements", ctypes.POINTER(ctypes.c_double))]


_OnText = ctypes.CFUNCTYPE(None, _Text, ctypes.c_void_p)
_Interpret = ctypes.CFUNCTYPE(
    ctypes.c_int8, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.POINTER(_Tensor), ctypes.c_ssize_t, ctypes.POINTER(_Tensor), ctypes.c_void_p
)  # no structures; the same registers
_OnDiagnostic = ctypes.CFUNCTYPE(ctypes.c_int8, _Handle, ctypes.c_void_p)  # no structures; the same register
_SEVERITIES = ("error", "warning", "note", "remark")


@dataclass(frozen=True)
class Diagnostic:
    severity: str
    """error, warning, note or remark."""
    message: str
    location: str
    """As MLIR prints it: `loc("model.mlir":3:8)`."""
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.location}: {self.severity}: {self.message}", *map(str, self.notes)])


@dataclass(frozen=True)
class Value:
    type: str
    sharding: str | None
    """None where nothing has set one."""


@dataclass(frozen=True)
class Operation:
    name: str
    results: tuple[Value, ...]
    attributes: dict[str, str]


@dataclass(frozen=True)
class Function:
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    operations: tuple[Operation, ...]
    """Of the first block, in order."""


@functools.cache
def _library() -> ctypes.CDLL:
    library = load_library()
    if library is None:
        raise ShardKitError("libShardKitCompiler is not installed next to shard-compile, expected a ShardKit built with its C API")
    # A handle is a structure in C, and a word in registers.
    for names, result in (
        ("mlirContextCreateWithRegistry mlirDialectRegistryCreate mlirModuleCreateParse mlirModuleGetOperation mlirModuleGetBody "
         "mlirPassManagerCreateOnOperation mlirOpPrintingFlagsCreate mlirPassManagerGetAsOpPassManager mlirBlockGetFirstOperation mlirOperationGetNextInBlock "
         "mlirOperationGetName mlirOperationGetResult mlirValueGetType mlirOperationGetRegion mlirRegionGetFirstBlock "
         "mlirBlockGetArgument mlirOperationGetParentOperation mlirOperationGetAttributeByName mlirAttributeParseGet mlirTypeParseGet mlirDiagnosticGetLocation "
         "mlirDiagnosticGetNote mlirArrayAttrGetElement mlirDictionaryAttrGetElementByName skValueGetSharding "
         "skShardingGetLocalType mlirTypeAttrGetValue mlirFunctionTypeGetResult", _Handle),
        ("mlirIdentifierStr mlirStringAttrGetValue", _Text),
        ("mlirPassManagerRunOnOp skAddPass skGetReport skGetReshard", _Result),
        ("mlirOperationGetNumResults mlirOperationGetNumRegions mlirBlockGetNumArguments mlirDiagnosticGetNumNotes "
         "skShardingGetOwners skCheckShardingRule mlirShapedTypeGetDimSize mlirOperationGetNumAttributes mlirFunctionTypeGetNumResults", ctypes.c_ssize_t),
        ("mlirContextAttachDiagnosticHandler", ctypes.c_uint64),
        ("mlirShapedTypeGetRank", ctypes.c_int64),
        ("mlirTypeIsARankedTensor skOperationHasShardingRule", ctypes.c_bool),
    ):  # fmt: skip
        for name in names.split():
            getattr(library, name).restype = result
    library.mlirOperationGetAttribute.restype = _NamedAttribute
    library.skRegisterAllPasses()
    return library


class _NamedAttribute(ctypes.Structure):
    _fields_ = [("name", _Handle), ("attribute", _Handle)]


def _text(value: str | bytes) -> _Text:
    data = ctypes.create_string_buffer(value.encode() if isinstance(value, str) else value)
    text = _Text(ctypes.cast(data, ctypes.c_void_p), len(data) - 1)
    text.owner = data
    return text


def _print(function: Any, *arguments: Any) -> str:
    """What a function of the C API prints to its callback."""
    parts: list[str] = []
    function(*arguments, _OnText(lambda text, _: parts.append(str(text))), None)
    return "".join(parts)


@dataclass
class _Context:
    """A context of MLIR with its diagnostics."""

    handle: _Handle = field(default_factory=_Handle)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        library = _library()
        registry = library.mlirDialectRegistryCreate()
        library.skRegisterAllDialects(registry)
        self.handle = library.mlirContextCreateWithRegistry(registry, ctypes.c_bool(False))
        library.mlirDialectRegistryDestroy(registry)
        library.mlirContextLoadAllAvailableDialects(self.handle)
        self._handler = _OnDiagnostic(self._add)
        library.mlirContextAttachDiagnosticHandler(self.handle, self._handler, None, None)

    def __del__(self) -> None:
        if self.handle.pointer:
            _library().mlirContextDestroy(self.handle)

    def _add(self, diagnostic: _Handle, _: Any) -> int:
        self.diagnostics.append(self._read(diagnostic))
        return 1

    def _read(self, diagnostic: _Handle) -> Diagnostic:
        library = _library()
        notes = [library.mlirDiagnosticGetNote(diagnostic, ctypes.c_ssize_t(i)) for i in range(library.mlirDiagnosticGetNumNotes(diagnostic))]
        return Diagnostic(
            _SEVERITIES[library.mlirDiagnosticGetSeverity(diagnostic)],
            _print(library.mlirDiagnosticPrint, diagnostic),
            _print(library.mlirLocationPrint, library.mlirDiagnosticGetLocation(diagnostic)),
            tuple(map(self._read, notes)),
        )

    def check(self, works: bool, what: str) -> None:
        """Raises the errors since the last call."""
        errors = [str(d) for d in self.diagnostics if d.severity == "error"]
        if not works:
            self.diagnostics = [d for d in self.diagnostics if d.severity != "error"]
            raise ShardKitError("\n".join(errors) or what)


class Module:
    """A module of MLIR. Use `parse`."""

    def __init__(self, context: _Context, handle: _Handle):
        self._context, self._handle = context, handle
        self._operation: _Handle = _library().mlirModuleGetOperation(handle)

    def __del__(self) -> None:
        if self._handle.pointer:
            _library().mlirModuleDestroy(self._handle)

    def __str__(self) -> str:
        return _print(_library().mlirOperationPrint, self._operation)

    def get_asm(self, print_generic_op_form: bool = False, enable_debug_info: bool = False) -> str:
        """Its text, as the method of this name in MLIR's Python bindings prints it. The generic form needs no dialect of ShardKit to be parsed."""
        return self._print(self._operation, print_generic_op_form, enable_debug_info)

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """Warnings and remarks so far, in order."""
        return tuple(self._context.diagnostics)

    def run(self, name: str, **options: Any) -> "Module":
        """Runs one pass or pipeline. Options have the names of its own, with `_` for `-`."""
        library, messages = _library(), list[str]()
        values = {key.replace("_", "-"): str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}
        pairs = (_Option * len(values))(*[_Option(key.encode(), value.encode()) for key, value in values.items()])
        manager = library.mlirPassManagerCreateOnOperation(self._context.handle, _text("builtin.module"))
        try:
            passes = library.mlirPassManagerGetAsOpPassManager(manager)
            on_error = _OnText(lambda text, _: messages.append(str(text)))
            if not library.skAddPass(passes, name.encode(), ctypes.c_ssize_t(len(values)), pairs, on_error, None).succeeded:
                raise ShardKitError("".join(messages))
            works = library.mlirPassManagerRunOnOp(manager, self._operation).succeeded
            self._context.check(works, f"{name} failed")
        finally:
            library.mlirPassManagerDestroy(manager)
        return self

    @property
    def functions(self) -> dict[str, Function]:
        """By name."""
        found, library = {}, _library()
        for op in self._walk(library.mlirModuleGetBody(self._handle)):
            if self._name(op) == "func.func":
                name = str(library.mlirStringAttrGetValue(library.mlirOperationGetAttributeByName(op, _text("sym_name"))))
                found[name] = self._read_function(op)
        return found

    def local_type(self, sharding: str, type: str) -> str:
        """The type of a shard of a tensor."""
        local = _library().skShardingGetLocalType(self._attribute(sharding), self._type(type), self._operation)
        self._context.check(bool(local.pointer), "no local type")
        return _print(_library().mlirTypePrint, local)

    def owners(self, sharding: str, type: str, index: Sequence[int]) -> list[int]:
        """The ranks that have an element."""
        at = (ctypes.c_int64 * len(index))(*index)
        arguments = (self._attribute(sharding), self._type(type), self._operation, at)
        if _library().mlirTypeIsARankedTensor(arguments[1]) and len(index) != _library().mlirShapedTypeGetRank(arguments[1]):
            raise ShardKitError(f"the index has {len(index)} numbers, expected one for each dim of {type}")
        count = _library().skShardingGetOwners(*arguments, ctypes.c_ssize_t(0), None)
        self._context.check(count >= 0, "no owners")
        ranks = (ctypes.c_int64 * count)()
        _library().skShardingGetOwners(*arguments, ctypes.c_ssize_t(count), ranks)
        return list(ranks)

    def reshard(self, type: str, source: str, target: str) -> dict[str, Any]:
        """What moves: `{"kinds": ["all_gather"], "axes": ["x"], "bytes": 64, "seconds": 1e-05}`."""
        arguments = (self._attribute(source), self._attribute(target), self._type(type), self._operation)
        return self._json(_library().skGetReshard, *arguments)

    def check_rules(self, interpret: Callable[[str, list[list[float]]], Sequence[Sequence[float]]]) -> dict[str, int]:
        """Computes each op of the functions in shards, as its sharding rule permits, and compares. By name of the ops in how many ways.

        `interpret`: computes the function `main` of a module, in generic form, from the elements of its arguments, row-major; it
        returns those of its results. The first difference is a ShardKitError."""
        library, cases = _library(), dict[str, int]()
        failures: list[BaseException] = []

        def call(op: int, operand_count: int, operands: Any, result_count: int, results: Any, _: Any) -> int:
            try:
                module = library.mlirOperationGetParentOperation(library.mlirOperationGetParentOperation(_Handle(op)))
                given = [operands[i].elements[: self._count(operands[i].type)] for i in range(operand_count)]
                made = interpret(self._print(module, generic=True, locations=False), given)
                for i, elements in zip(range(result_count), made, strict=True):
                    for k, element in zip(range(self._count(results[i].type)), elements, strict=True):
                        results[i].elements[k] = element
                return 1
            except BaseException as error:  # C does not pass it on.
                failures.append(error)
                return 0

        callback = _Interpret(call)
        for function in self._walk(library.mlirModuleGetBody(self._handle)):
            block = library.mlirRegionGetFirstBlock(library.mlirOperationGetRegion(function, ctypes.c_ssize_t(0)))
            for op in self._walk(block) if self._name(function) == "func.func" and block.pointer else []:
                if library.skOperationHasShardingRule(op):
                    count = library.skCheckShardingRule(op, callback, None)
                    if failures:
                        raise failures[0]
                    self._context.check(count >= 0, f"the sharding rule of {self._name(op)} is wrong")
                    cases[self._name(op)] = cases.get(self._name(op), 0) + count
        return cases

    def report(self) -> dict[str, Any]:
        """That of --spmd-report. The module stays as it is."""
        return self._json(_library().skGetReport, self._operation)

    def _json(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        parts: list[str] = []
        works = function(*arguments, _OnText(lambda text, _: parts.append(str(text))), None).succeeded
        self._context.check(works, "no report")
        return dict(json.loads("".join(parts)))

    def _attribute(self, text: str) -> _Handle:
        attribute: _Handle = _library().mlirAttributeParseGet(self._context.handle, _text(text))
        self._context.check(bool(attribute.pointer), f"'{text}' is not an attribute")
        return attribute

    def _type(self, text: str) -> _Handle:
        type: _Handle = _library().mlirTypeParseGet(self._context.handle, _text(text))
        self._context.check(bool(type.pointer), f"'{text}' is not a type")
        return type

    @staticmethod
    def _count(type: _Handle) -> int:
        """The number of elements of a tensor."""
        sizes = (_library().mlirShapedTypeGetDimSize(type, ctypes.c_ssize_t(d)) for d in range(_library().mlirShapedTypeGetRank(type)))
        return math.prod(sizes)

    @staticmethod
    def _print(op: _Handle, generic: bool, locations: bool) -> str:
        library = _library()
        flags = library.mlirOpPrintingFlagsCreate()
        if generic:
            library.mlirOpPrintingFlagsPrintGenericOpForm(flags)
        if locations:
            library.mlirOpPrintingFlagsEnableDebugInfo(flags, ctypes.c_bool(True), ctypes.c_bool(False))
        try:
            return _print(library.mlirOperationPrintWithFlags, op, flags)
        finally:
            library.mlirOpPrintingFlagsDestroy(flags)

    @staticmethod
    def _walk(block: _Handle) -> list[_Handle]:
        ops, op = [], _library().mlirBlockGetFirstOperation(block)
        while op.pointer:
            ops.append(op)
            op = _library().mlirOperationGetNextInBlock(op)
        return ops

    @staticmethod
    def _name(op: _Handle) -> str:
        return str(_library().mlirIdentifierStr(_library().mlirOperationGetName(op)))

    def _read_value(self, value: _Handle) -> Value:
        library = _library()
        sharding = library.skValueGetSharding(value)
        return Value(
            _print(library.mlirTypePrint, library.mlirValueGetType(value)),
            _print(library.mlirAttributePrint, sharding) if sharding.pointer else None,
        )

    def _read_operation(self, op: _Handle) -> Operation:
        library = _library()
        results = [library.mlirOperationGetResult(op, ctypes.c_ssize_t(i)) for i in range(library.mlirOperationGetNumResults(op))]
        named = [library.mlirOperationGetAttribute(op, ctypes.c_ssize_t(i)) for i in range(library.mlirOperationGetNumAttributes(op))]
        attributes = {str(library.mlirIdentifierStr(n.name)): _print(library.mlirAttributePrint, n.attribute) for n in named}
        return Operation(self._name(op), tuple(map(self._read_value, results)), attributes)

    def _read_function(self, op: _Handle) -> Function:
        library = _library()
        type = library.mlirTypeAttrGetValue(library.mlirOperationGetAttributeByName(op, _text("function_type")))
        attributes = library.mlirOperationGetAttributeByName(op, _text("res_attrs"))
        results = []
        for i in range(library.mlirFunctionTypeGetNumResults(type)):
            sharding = _Handle()
            if attributes.pointer:
                dictionary = library.mlirArrayAttrGetElement(attributes, ctypes.c_ssize_t(i))
                sharding = library.mlirDictionaryAttrGetElementByName(dictionary, _text("spmd.sharding"))
            text = _print(library.mlirAttributePrint, sharding) if sharding.pointer else None
            results.append(Value(_print(library.mlirTypePrint, library.mlirFunctionTypeGetResult(type, ctypes.c_ssize_t(i))), text))
        block = library.mlirRegionGetFirstBlock(library.mlirOperationGetRegion(op, ctypes.c_ssize_t(0)))
        if not block.pointer:
            return Function((), tuple(results), ())
        arguments = [library.mlirBlockGetArgument(block, ctypes.c_ssize_t(i)) for i in range(library.mlirBlockGetNumArguments(block))]
        operations = tuple(map(self._read_operation, self._walk(block)))
        return Function(tuple(map(self._read_value, arguments)), tuple(results), operations)


def parse(source: Any, allow_unregistered_dialects: bool = False) -> Module:
    """A module of text, of bytecode, or of MLIR's Python bindings.

    Modules of bindings (`ir.Module` or `ir.Operation` of jaxlib, IREE, torch-mlir or LLVM's own build) are read as generic text with their locations, since each
    package has a version of MLIR of its own. `Module.get_asm` gives what these parse again. `allow_unregistered_dialects`: ops of dialects that
    ShardKit does not have stay as they are; not from bytecode."""
    operation = getattr(source, "operation", source)
    if hasattr(operation, "get_asm"):
        source = operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    if not isinstance(source, (str, bytes)):
        raise ShardKitError(f"cannot parse {type(source).__name__}, expected text or bytecode of a module, or a module of MLIR's Python bindings")
    if allow_unregistered_dialects and isinstance(source, bytes) and source.startswith(b"ML\xefR"):
        # Each op writes its properties as it likes, and MLIR reads those of unknown ops as attributes.
        raise ShardKitError("ops of unregistered dialects cannot be read from bytecode, expected text")
    context = _Context()
    _library().mlirContextSetAllowUnregisteredDialects(context.handle, ctypes.c_bool(allow_unregistered_dialects))
    handle = _library().mlirModuleCreateParse(context.handle, _text(source))
    context.check(bool(handle.pointer), "the text is not a module")
    return Module(context, handle)
