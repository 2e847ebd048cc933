//===- WriteConstants.cpp - Large constants in a file ---------------------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

namespace {
/// A tensor of the file.
struct StoredConstant {
  StringRef name;
  ElementsAttr elements;
  rt::DType dtype;
  int64_t getBytes() const { return elements.getNumElements() * rt::dtypeSize(dtype); }
};

/// Writes to a file, and computes its hash.
class HashedFile {
public:
  HashedFile(StringRef path, std::error_code &ec) : file(path, ec) {}

  void write(StringRef bytes) {
    file << bytes;
    md5.update(bytes);
    size += bytes.size();
  }

  /// The error of all writes.
  std::error_code close() {
    file.close();
    std::error_code ec = file.error();
    file.clear_error();
    return ec;
  }

  /// After close().
  rt::FileInfo describe(StringRef name) {
    llvm::MD5::MD5Result hash;
    md5.final(hash);
    return {name.str(), size, "md5:" + hash.digest().str().str()};
  }

private:
  llvm::raw_fd_ostream file;
  llvm::MD5 md5;
  int64_t size = 0;
};
} // namespace

/// The name of the format's type.
static std::string getStoredType(rt::DType dtype) {
  return dtype == rt::DType::I1 ? "BOOL" : StringRef(rt::dtypeName(dtype)).upper();
}

/// The constants of all functions, each once; larger element types come first, so that each tensor is aligned.
static FailureOr<SmallVector<StoredConstant>> findConstants(ModuleOp module) {
  llvm::MapVector<StringRef, StoredConstant> found;
  for (auto func : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto elements = func.getArgAttrOfType<ElementsAttr>(i, kConstantAttr);
      auto name = func.getArgAttrOfType<StringAttr>(i, kWeightAttr);
      if (!elements || !name)
        continue;
      std::optional<rt::DType> dtype = getDType(elements.getElementType());
      Location loc = func.getArgument(i).getLoc();
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements); resource && !resource.getRawHandle().getBlob())
        return emitError(loc) << "constant of type " << resource.getType() << " is the resource '"
                              << resource.getRawHandle().getKey()
                              << "', of which the file has no elements, expected them in its dialect_resources";
      if (!dtype || *dtype == rt::DType::C128 || !isa<DenseElementsAttr, DenseResourceElementsAttr>(elements))
        return emitError(loc) << "constant of type " << elements.getShapedType()
                              << " cannot be stored, expected a list of numbers of f64, f32, f16, bf16, i64, i32, i16, "
                                 "i8, i1, index or complex<f32>";
      found.try_emplace(name.getValue(), StoredConstant{name.getValue(), elements, *dtype});
    }
  SmallVector<StoredConstant> constants(llvm::make_second_range(found.takeVector()));
  llvm::stable_sort(constants, [](const StoredConstant &a, const StoredConstant &b) {
    return rt::dtypeSize(a.dtype) > rt::dtypeSize(b.dtype);
  });
  return constants;
}

/// The header of a .safetensors file, whose data then start at a page.
static std::string makeHeader(ArrayRef<StoredConstant> constants) {
  constexpr size_t kPage = 4096;
  llvm::json::Object entries;
  int64_t begin = 0;
  for (const StoredConstant &constant : constants) {
    const int64_t end = begin + constant.getBytes();
    entries[constant.name] =
        llvm::json::Object{{"dtype", getStoredType(constant.dtype)},
                           {"shape", llvm::json::Array(constant.elements.getShapedType().getShape())},
                           {"data_offsets", llvm::json::Array{begin, end}}};
    begin = end;
  }
  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(entries)));
  text.append(kPage - (text.size() + 8) % kPage, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i));
  return length + text;
}

/// Calls `write` with the bytes of a constant as they are stored.
static void visitBytes(const StoredConstant &constant, llvm::function_ref<void(StringRef)> write) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.elements)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    return write(StringRef(data.data(), data.size()));
  }
  auto dense = cast<DenseElementsAttr>(constant.elements);
  ArrayRef<char> data = dense.getRawData();
  StringRef bytes(data.data(), data.size());
  if (constant.dtype == rt::DType::I1) { // 8 in a byte
    std::string expanded;
    for (bool element : dense.getValues<bool>())
      expanded += char(element);
    return write(expanded);
  }
  for (int64_t i = 0, n = dense.isSplat() ? dense.getNumElements() : 1; i < n; ++i)
    write(bytes);
}

LogicalResult spmd::writeConstants(ModuleOp module, StringRef dir, rt::Manifest &out) {
  FailureOr<SmallVector<StoredConstant>> constants = findConstants(module);
  if (failed(constants) || constants->empty())
    return constants;
  constexpr StringLiteral kFile = "constants.safetensors";
  SmallString<128> path(dir);
  llvm::sys::path::append(path, kFile);
  std::error_code ec;
  HashedFile file(path, ec);
  if (!ec) {
    file.write(makeHeader(*constants));
    for (const StoredConstant &constant : *constants)
      visitBytes(constant, [&](StringRef bytes) { file.write(bytes); });
    ec = file.close();
  }
  if (ec)
    return emitError(module.getLoc()) << "cannot write " << path << ": " << ec.message();
  out.constants = file.describe(kFile);
  return success();
}
