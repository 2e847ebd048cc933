//===- SPMDAttrs.td - Attributes of the spmd dialect -------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS
#define SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "shardkit/Dialect/SPMD/IR/SPMDBase.td"

class SPMD_Attr<string name, string attrMnemonic> : AttrDef<SPMD_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

def SPMD_MeshAxisAttr : SPMD_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Name and size of a mesh axis";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
}

def SPMD_MeshAttr : SPMD_Attr<"Mesh", "mesh"> {
  let summary = "Axes (major to minor) and device order of a logical mesh";
  let description = [{
    ```mlir
    #spmd.mesh<["data"=2, "model"=4]>
    #spmd.mesh<["data"=2, "model"=2], device_ids=[0, 2, 1, 3]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"MeshAxisAttr">:$axes,
    OptionalArrayRefParameter<"int64_t">:$deviceIds);
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def SPMD_DimEntryAttr : SPMD_Attr<"DimEntry", "dim_entry"> {
  let summary = "One entry of a dimension: an axis, a sub-axis or a stride";
  let description = [{
    * full axis `"x"`: pre = 1, size = 0
    * sub-axis `"x":(m)k`: pre = m, size = k
    * stride `2`: axis empty, pre = 1, size = 2

    Constraints:
    * (dim_entry_c1) sizes are positive
  }];
  let parameters = (ins StringRefParameter<"axis, empty for a stride">:$axis,
                        "int64_t":$pre, "int64_t":$size);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isStride() const { return getAxis().empty(); }
    bool isFullAxis() const { return !isStride() && getSize() == 0; }
    static DimEntryAttr fullAxis(::mlir::MLIRContext *context, ::llvm::StringRef axis) {
      return get(context, axis, 1, 0);
    }
    static DimEntryAttr stride(::mlir::MLIRContext *context, int64_t size) {
      return get(context, "", 1, size);
    }
  }];
}

def SPMD_DimShardingAttr : SPMD_Attr<"DimSharding", "dim_sharding"> {
  let summary = "Sharding of one dimension";
  let description = [{
    `{"x", 2, "y":(1)2, ?}p1`: entries major to minor, `?` = open, `p1` = user
    priority (0 strongest, the default).

    Constraints:
    * (dim_sharding_c1) the priority is not negative
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"DimEntryAttr">:$entries,
    "bool":$open, "int64_t":$priority);
  let genVerifyDecl = 1;
}

def SPMD_ShardingAttr : SPMD_Attr<"Sharding", "sharding"> {
  let summary = "Which axes of a mesh split which dimension of a value";
  let description = [{
    ```mlir
    #spmd.sharding<@pod, [{"data"}, {"model", ?}, {}, {?} ], replicated = {"z"}, unreduced = {"y"}>
    #spmd.sharding<@pod, [{2, "x"} ], unreduced(max) = {"y":(1)2}>
    ```
    One brace per dimension: axes major to minor; a trailing `?` leaves the
    dimension open, so that propagation may add axes. A plain integer is a
    stride: a local factor that is passed over, so that a device holds several
    separate blocks (strided sharding). `replicated` axes must not be used; over
    `unreduced` axes the value is a partial result.
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$mesh,
    OptionalArrayRefParameter<"DimShardingAttr">:$dims,
    OptionalArrayRefParameter<"DimEntryAttr">:$replicated,
    "::mlir::spmd::ReductionKind":$unreducedKind,
    OptionalArrayRefParameter<"DimEntryAttr">:$unreduced);
  let builders = [
    AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh,
                     "::llvm::ArrayRef<DimShardingAttr>":$dims), [{
      return $_get($_ctxt, mesh, dims, ::llvm::ArrayRef<DimEntryAttr>(),
                   ReductionKind::Sum, ::llvm::ArrayRef<DimEntryAttr>());
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDims().size(); }
    /// True if any dimension is open.
    bool isOpen() const;
    /// True if no axis is named (strides aside) and the value is not partial.
    bool isReplicated() const;
    /// `{?}` in each of `rank` dimensions.
    static ShardingAttr getFullyOpen(::mlir::MLIRContext *context,
                                     ::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    /// `{}` in each of `rank` dimensions.
    static ShardingAttr getFullyReplicated(::mlir::MLIRContext *context,
                                           ::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    /// The same with every dimension closed.
    ShardingAttr getClosed() const;
  }];
}

def SPMD_AxesAttr : SPMD_Attr<"Axes", "axes"> {
  let summary = "Some (sub-)axes of a mesh, major to minor";
  let description = "`#spmd.axes<@pod, {\"model\"}>`";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        OptionalArrayRefParameter<"DimEntryAttr">:$axes);
}

def SPMD_ReductionKindAttr : SPMD_Attr<"ReductionKind", "reduction"> {
  let summary = "How partial values combine";
  let description = [{
    `sum, prod, and, or, xor, max, min` (floats: NaN propagates; integers:
    signed), `umax, umin`, `maxnum, minnum` (NaN is dropped).
  }];
  let parameters = (ins "::mlir::spmd::ReductionKind":$value);
}

def SPMD_OrtAttr : SPMD_Attr<"Ort", "ort"> {
  let summary = "A sharding in the form of ONNX Runtime";
  let description = [{
    `#spmd.ort<"RS[0]", shape = [4], elements = [0, 1, 0, 1]>`: the spec and its
    per-tensor device mesh. Accepted wherever a sharding is, and replaced by one
    by `--spmd-import-ort`.

    Constraints:
    * (ort_c1) as many elements as the product of the shape, none negative
  }];
  let parameters = (ins StringRefParameter<"spec">:$spec,
                        OptionalArrayRefParameter<"int64_t">:$shape,
                        OptionalArrayRefParameter<"int64_t">:$elements);
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Axis resources
//===----------------------------------------------------------------------===//

def SPMD_AxisResourcesAttr : SPMD_Attr<"AxisResources", "axis_resources"> {
  let summary = "A sharding before the mesh is known, as in pjit";
  let description = [{
    ```mlir
    #spmd.axis_resources<["data", none, ["x", "y"], ?]>
    #spmd.axis_resources<replicated>
    ```
    A string is one axis, a list several (major to minor), `none` a closed
    unsharded dimension, `?` an open one; dimensions without an entry are `none`.

    An entry is an array of strings (empty = `none`), or a unit attribute (`?`).

    Constraints:
    * (axis_resources_c1) an entry is an axis, a list of axes, `none` or `?`
    * (axis_resources_c2) no axis is used twice
  }];
  let parameters = (ins "bool":$replicated,
                        OptionalArrayRefParameter<"::mlir::Attribute">:$entries);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumEntries() const { return getEntries().size(); }
    bool isOpen(int64_t entry) const {
      return ::llvm::isa<::mlir::UnitAttr>(getEntries()[entry]);
    }
    /// Axes of an entry; empty for `none` and `?`.
    ::llvm::SmallVector<::llvm::StringRef> getAxes(int64_t entry) const;
  }];
}

//===----------------------------------------------------------------------===//
// How an op computes
//===----------------------------------------------------------------------===//

def SPMD_FactorsAttr : SPMD_Attr<"Factors", "factors"> {
  let summary = "Axes of each factor of an op, in the order of its sharding rule";
  let description = [{
    `#spmd.factors<@pod, [{"data"}, {}, {"model"} ]>`

    Constraints:
    * (factors_c1) factors are closed and have no priority
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        OptionalArrayRefParameter<"DimShardingAttr">:$factors);
  let genVerifyDecl = 1;
}

def SPMD_RuleAttr : SPMD_Attr<"Rule", "rule"> {
  let summary = "The sharding rule of an op";
  let description = [{
    ```mlir
    #spmd.rule<([i, k], [k, j]) -> ([i, j]) {i=8, j=16, k=32}, reduction(sum) = {k}>
    #spmd.rule<([a, b, c]) -> ([(a b), c]) {a=2, b=4, c=8}, indexed = {c}, ordered = {}, windowed = {}, replicated = {}>
    ```
    One list per operand (then per captured tensor) and per result; a dimension
    made of several factors is a group in parentheses, major to minor; `_` is a
    dimension that no factor describes. Factors in no set are parallel.

    Constraints:
    * (rule_attr_c1) every factor has one positive size and is in at most one set
    * (rule_attr_c2) every factor that a dimension names has a size
  }];
  let parameters = (ins
    "::mlir::ArrayAttr":$operands,   // per tensor an array of DenseI64ArrayAttr, one per dim
    "::mlir::ArrayAttr":$results,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$factorNames,
    OptionalArrayRefParameter<"int64_t">:$factorSizes,
    OptionalArrayRefParameter<"::mlir::spmd::RuleFactorKind">:$factorKinds,
    // Combiner of each factor; Sum for factors that are not reductions.
    OptionalArrayRefParameter<"::mlir::spmd::ReductionKind">:$reductions);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumFactors() const { return getFactorSizes().size(); }
    int64_t getNumOperands() const { return getOperands().size(); }
    int64_t getNumResults() const { return getResults().size(); }
    int64_t getOperandRank(unsigned i) const;
    int64_t getResultRank(unsigned i) const;
    /// Factors of a dimension, major to minor; empty where none describes it.
    ::llvm::ArrayRef<int64_t> getOperandDim(unsigned operand, unsigned dim) const;
    ::llvm::ArrayRef<int64_t> getResultDim(unsigned result, unsigned dim) const;
  }];
}

//===----------------------------------------------------------------------===//
// Pipelines and weights
//===----------------------------------------------------------------------===//

def SPMD_MicrobatchAttr : SPMD_Attr<"Microbatch", "microbatch"> {
  let summary = "The dimension along which an argument is split into microbatches";
  let description = [{
    `#spmd.microbatch<dim = 0>`

    Constraints:
    * (microbatch_c1) the dimension is not negative
  }];
  let parameters = (ins "int64_t":$dim);
  let genVerifyDecl = 1;
}

def SPMD_FragmentAttr : SPMD_Attr<"Fragment", "fragment"> {
  let summary = "A fragment of a stage";
  let description = [{
    `#spmd.fragment<forward>`, `#spmd.fragment<backward>` and `#spmd.fragment<apply, round = 1>`
    on a function (`spmd.fragment`) specify which fragment of its stage the function is. The
    name of the function has no meaning.

    Constraints:
    * (fragment_c1) the round is not negative, and 0 except for apply
  }];
  let parameters = (ins "::mlir::spmd::StageFragment":$kind, DefaultValuedParameter<"int64_t", "0">:$round);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def SPMD_SlotAttr : SPMD_Attr<"Slot", "slot"> {
  let summary = "The buffer of a stage that an argument or result of its functions is";
  let description = [{
    ```mlir
    #spmd.slot<argument 3>            // an argument of the program, all of it
    #spmd.slot<argument 3, dim = 0>   // the running microbatch's slice of it along dim 0
    #spmd.slot<result 1>              // a result of the program
    #spmd.slot<result 1, dim = 0>     // the running microbatch's slice of it along dim 0
    #spmd.slot<value "h">             // one per microbatch, or (from apply to apply) per step
    #spmd.slot<sum "g", max>          // accumulated over the microbatches
    ```

    Constraints:
    * (slot_c1) index and dim are not negative, a value has a name
  }];
  let parameters = (ins "::mlir::spmd::SlotKind":$kind, "int64_t":$index, "int64_t":$dim,
                        StringRefParameter<"name of a value">:$name,
                        "::mlir::spmd::ReductionKind":$reduction);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isMicrobatch() const { return getDim() >= 0; }
    bool isValue() const { return getKind() == SlotKind::Value || getKind() == SlotKind::Sum; }
  }];
}

def SPMD_SegmentsAttr : SPMD_Attr<"Segments", "segments"> {
  let summary = "A stored dimension that is a concatenation of segments";
  let description = [{
    `#spmd.segments<0, [80, 100, 100], unit = 10>`: dimension 0 is the concatenation
    of three segments that are sharded one by one. Shards hold a multiple of `unit`
    elements (default 1). With `replicate` last, a segment of fewer units than shards
    is sharded along some of the (sub-)axes and replicated over the others (fewer
    key and value heads than devices), unless a device would hold more than two units.

    Constraints:
    * (segments_c1) dim not negative, sizes and unit positive
    * (segments_c2) the unit divides every segment
  }];
  let parameters = (ins "int64_t":$dim,
                        OptionalArrayRefParameter<"int64_t">:$sizes,
                        "int64_t":$unit,
                        "bool":$replicate);
  let extraClassDeclaration = [{
    /// False for one segment of single elements, which any sharding may split.
    bool hasEffect() const { return getSizes().size() > 1 || getUnit() > 1 || getReplicate(); }
  }];
  let genVerifyDecl = 1;
}

def SPMD_SegmentAttr : SPMD_Attr<"Segment", "segment"> {
  let summary = "The slice of a stored tensor that an argument is, or of an update that a result is";
  let description = [{
    `#spmd.segment<tensor<280x64xf32>, dim = 0, offset = 80, unit = 10, argument = 1>`:
    the argument is the slice of the stored tensor that begins at index 80 of
    dimension 0. --spmd-split-segments created it from the argument that had number
    1. A result that updates such an argument carries the attribute too: it is that
    slice of the result with number `argument`.

    An argument of one more dim, `tensor<10x10x64xf32>` here, has the units in one dim
    and the elements of a unit in the next one. So do segments whose units their shards
    do not divide: a shard has full units.

    Constraints:
    * (segment_c1) dim inside the rank, offset and argument not negative, unit positive
  }];
  let parameters = (ins "RankedTensorType":$stored, "int64_t":$dim,
                        "int64_t":$offset, "int64_t":$unit, "int64_t":$argument);
  let extraClassDeclaration = [{
    /// True if units have a dim of their own in the argument.
    bool isInUnits(ShapedType type) const { return type.getRank() == getStored().getRank() + 1; }
    /// The indices of dim `getDim()` of the stored tensor that the argument has.
    int64_t getSize(ShapedType type) const {
      return type.getDimSize(getDim()) * (isInUnits(type) ? getUnit() : 1);
    }
    /// By dim of the stored tensor, the dims of an argument with a dim for units.
    llvm::SmallVector<llvm::SmallVector<int64_t, 2>> getUnitGroups() const {
      llvm::SmallVector<llvm::SmallVector<int64_t, 2>> groups;
      for (int64_t d = 0, at = 0; d < getStored().getRank(); ++d) {
        groups.push_back({at++});
        if (d == getDim())
          groups.back().push_back(at++);
      }
      return groups;
    }
    /// The type of the slice of the stored tensor.
    RankedTensorType getSliceType(ShapedType type) const {
      llvm::SmallVector<int64_t> shape(getStored().getShape());
      shape[getDim()] = getSize(type);
      return getStored().clone(shape);
    }
  }];
  let genVerifyDecl = 1;
}

def SPMD_BarrierDirection : I32EnumAttr<"BarrierDirection",
    "direction in which propagation may pass", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"Forward", 1, "forward">,
      I32EnumAttrCase<"Backward", 2, "backward">]> {
  let cppNamespace = "::mlir::spmd";
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS
