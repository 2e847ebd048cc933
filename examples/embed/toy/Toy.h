#include "ToyDialect.h.inc"
#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#define GET_OP_CLASSES
#include "Toy.h.inc"

/// The pass toy-to-linalg: the dialect becomes linalg on tensors.
void registerToyToLinalg();
