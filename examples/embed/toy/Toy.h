#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

/// The pass toy-to-linalg: the dialect becomes linalg on tensors.
void registerToyToLinalg();

#include "ToyDialect.h.inc"
#define GET_OP_CLASSES
#include "Toy.h.inc"
