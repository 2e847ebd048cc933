//===- AnnotationText.h - User shardings in messages ------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_AUTOSHARDING_ANNOTATIONTEXT_H
#define SHARDKIT_LIB_AUTOSHARDING_ANNOTATIONTEXT_H

#include "shardkit/AutoSharding/FunctionSearch.h"

namespace mlir::spmd {

struct DescribedAnnotation {
  std::string text; // `argument x`, `result 0 of @f`
  Location location;
};

/// What a user sharding is of.
DescribedAnnotation describeAnnotation(FunctionSearch &search, const FunctionPropagation::Annotation &annotation);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_AUTOSHARDING_ANNOTATIONTEXT_H
