//===- CompilerIdentity.cpp - Versions and build ids ----------------------===//

#include "shardkit/Driver/BundleCache.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/TargetParser/Host.h"
#include <dlfcn.h>
#include <link.h>

using namespace mlir;
using namespace mlir::spmd;

namespace {
/// A search for the object that contains an address.
struct ObjectSearch {
  uintptr_t address;
  std::string id;
};
} // namespace

/// The build id in a segment of notes, in hexadecimal.
static std::string readBuildId(const char *notes, size_t size) {
  auto pad = [](size_t bytes) { return (bytes + 3) & ~size_t(3); };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    memcpy(&header, notes, sizeof(header));
    const size_t bytes = sizeof(header) + pad(header.n_namesz) + pad(header.n_descsz);
    if (bytes > size)
      break;
    const char *name = notes + sizeof(header);
    if (header.n_type == NT_GNU_BUILD_ID && StringRef(name, header.n_namesz) == StringRef("GNU\0", 4))
      return llvm::toHex(StringRef(name + pad(header.n_namesz), header.n_descsz), /*LowerCase=*/true);
    notes += bytes;
    size -= bytes;
  }
  return "";
}

static int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<ObjectSearch *>(data);
  bool contains = false;
  for (const ElfW(Phdr) &segment : ArrayRef(info->dlpi_phdr, info->dlpi_phnum))
    contains |= segment.p_type == PT_LOAD && search.address - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  if (!contains)
    return 0;
  for (const ElfW(Phdr) &segment : ArrayRef(info->dlpi_phdr, info->dlpi_phnum))
    if (segment.p_type == PT_NOTE && search.id.empty())
      search.id = readBuildId(reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  return 1;
}

/// The build id of the object with this address; without one, its size and time.
static std::string identifyObject(const void *address) {
  ObjectSearch search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(visitObject, &search);
  Dl_info info;
  llvm::sys::fs::file_status status;
  if (search.id.empty() && dladdr(address, &info) && info.dli_fname && !llvm::sys::fs::status(info.dli_fname, status))
    search.id =
        (Twine(status.getSize()) + "-" + Twine(status.getLastModificationTime().time_since_epoch().count())).str();
  return search.id;
}

StringRef spmd::getCompilerIdentity() {
  static const std::string identity =
      "shardkit 0.1.0 " + identifyObject(reinterpret_cast<const void *>(&visitObject)) + ", MLIR " +
      identifyObject(reinterpret_cast<const void *>(&registerPassManagerCLOptions)) +
      ", LLVM " LLVM_VERSION_STRING " " +
      identifyObject(reinterpret_cast<const void *>(&llvm::sys::getDefaultTargetTriple));
  return identity;
}
