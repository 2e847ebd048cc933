//===- NoOneDnn.cpp - Matrix products where oneDNN is not built in --------===//

#include "ContractionDims.h"

namespace shardkit::rt {

bool libraryTakes(DType, DType) { return false; }

Expected<std::unique_ptr<LibraryProduct>> makeLibraryProduct(const MatrixProduct &) {
  return notFound("this build has no oneDNN");
}

} // namespace shardkit::rt
