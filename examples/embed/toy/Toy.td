// Ops on tensors of f32, and what ShardKit needs to know of each.
#ifndef TOY
#define TOY
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardkit/Rules/ShardingRuleOpInterface.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}
class Toy_Op<string name, list<string> hooks = []>
    : Op<Toy_Dialect, name, [Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface, hooks>]> {
  let results = (outs 2DTensorOf<[F32]>:$result);
}

def Toy_LinearOp : Toy_Op<"linear"> { // result[m, n] = sum over k of x[m, k] * weight[n, k]
  let arguments = (ins 2DTensorOf<[F32]>:$x, 2DTensorOf<[F32]>:$weight);
}
def Toy_RowMaxOp : Toy_Op<"row_max"> { // result[m, 0] = maximum over k of x[m, k]
  let arguments = (ins 2DTensorOf<[F32]>:$x);
}
def Toy_FillOp : Toy_Op<"fill", ["makeLocal"]> {
  let arguments = (ins DenseI64ArrayAttr:$shape, F32Attr:$value);
}
// result[m, i] = sum over j < width of x[m, i + j - padding]; x is 0 outside of its dim.
def Toy_SmoothOp : Toy_Op<"smooth", ["getWindowForm", "makeWindowLocal"]> {
  let arguments = (ins 2DTensorOf<[F32]>:$x, I64Attr:$width, I64Attr:$padding);
}
#endif
