//===- BundleCache.cpp - Compiled bundles on disk -------------------------===//

#include "shardkit/Driver/BundleCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::spmd;
namespace fs = llvm::sys::fs;
namespace json = llvm::json;

/// The first word of an entry, which changes with its form. A line follows: the hash of all after that line, a line of
/// JSON, then the contents of the files.
static constexpr StringLiteral kMagic = "shardkit-bundle-1 ";
static constexpr StringLiteral kEntrySuffix = ".bundle", kTemporarySuffix = ".tmp", kLockSuffix = ".lock";
static constexpr uint64_t kDefaultLimit = uint64_t(1) << 30;

static std::string hashToHex(llvm::SHA256 &hash) { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// Reads "500M", a number of bytes.
static std::optional<uint64_t> parseBytes(StringRef text) {
  static constexpr StringLiteral units = "KMGT";
  unsigned shift = 0;
  if (size_t unit = text.empty() ? StringRef::npos : units.find(llvm::toUpper(text.back())); unit != StringRef::npos) {
    shift = 10 * (unit + 1);
    text = text.drop_back();
  }
  uint64_t bytes;
  if (text.getAsInteger(10, bytes) || bytes > (~uint64_t(0) >> shift))
    return std::nullopt;
  return bytes << shift;
}

FailureOr<std::unique_ptr<BundleCache>> BundleCache::open(StringRef given, std::string &reason) {
  std::string directory = given.str();
  if (directory.empty())
    directory = llvm::sys::Process::GetEnv("SHARDKIT_CACHE").value_or("");
  if (directory == "off")
    return std::unique_ptr<BundleCache>();
  SmallString<128> path(directory);
  if (directory.empty()) {
    if (!llvm::sys::path::cache_directory(path)) {
      reason = "no directory for the cache: HOME is not set, expected SHARDKIT_CACHE=DIRECTORY or SHARDKIT_CACHE=off";
      return failure();
    }
    llvm::sys::path::append(path, "shardkit");
  }
  if (std::error_code ec = fs::make_absolute(path)) {
    reason = ("cache '" + path + "': " + ec.message()).str();
    return failure();
  }
  uint64_t limit = kDefaultLimit;
  if (std::optional<std::string> text = llvm::sys::Process::GetEnv("SHARDKIT_CACHE_SIZE")) {
    std::optional<uint64_t> bytes = parseBytes(*text);
    if (!bytes) {
      reason = "SHARDKIT_CACHE_SIZE is '" + *text + "', expected bytes, such as 500M or 2G";
      return failure();
    }
    limit = *bytes;
  }
  return std::unique_ptr<BundleCache>(new BundleCache(path.str().str(), limit));
}

std::string BundleCache::getKey(StringRef ir, StringRef name, StringRef resources, StringRef options,
                                bool isForThisProcessor) {
  std::string processor;
  if (isForThisProcessor) {
    processor = llvm::sys::getHostCPUName().str();
    std::vector<std::string> features;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(features);
    processor += "," + llvm::join(features, ",");
  }
  llvm::SHA256 hash;
  for (StringRef text :
       {StringRef(kMagic), getCompilerIdentity(), options, StringRef(processor), name, resources, ir}) {
    hash.update((Twine(text.size()) + ":").str());
    hash.update(text);
  }
  return hashToHex(hash);
}

std::string BundleCache::getPath(const Twine &name) const {
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

std::string BundleCache::prepare() const {
  if (std::error_code ec = fs::create_directories(directory, /*IgnoreExisting=*/true, fs::owner_all))
    return "cache '" + directory + "' cannot be created: " + ec.message();
  fs::file_status status;
  if (std::error_code ec = fs::status(directory, status))
    return "cache '" + directory + "' cannot be read: " + ec.message();
  if (status.type() != fs::file_type::directory_file)
    return "cache '" + directory + "' is not a directory, expected one";
  // Code is loaded from it.
  if (status.getUser() != ::geteuid() || (status.permissions() & (fs::group_write | fs::others_write)))
    return "cache '" + directory + "' can be written by others, expected a directory of this user with mode 0700";
  if (::access(directory.c_str(), W_OK | X_OK))
    return "cache '" + directory + "' cannot be written: " + llvm::sys::StrError();
  return "";
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static json::Value toJson(const CompileDiagnostic &diag) {
  json::Array notes;
  for (const CompileDiagnostic &note : diag.notes)
    notes.push_back(toJson(note));
  return json::Object{{"severity", int64_t(diag.severity)},
                      {"file", json::fixUTF8(diag.file)},
                      {"line", diag.line},
                      {"column", diag.column},
                      {"message", json::fixUTF8(diag.message)},
                      {"text", json::fixUTF8(diag.text)},
                      {"notes", std::move(notes)}};
}

/// False if it is not one.
static bool fromJson(const json::Value &value, CompileDiagnostic &diag) {
  const json::Object *object = value.getAsObject();
  const json::Array *notes = object ? object->getArray("notes") : nullptr;
  if (!notes)
    return false;
  diag.severity = DiagnosticSeverity(object->getInteger("severity").value_or(0));
  diag.file = object->getString("file").value_or("").str();
  diag.line = object->getInteger("line").value_or(0);
  diag.column = object->getInteger("column").value_or(0);
  diag.message = object->getString("message").value_or("").str();
  diag.text = object->getString("text").value_or("").str();
  for (const json::Value &note : *notes)
    if (!fromJson(note, diag.notes.emplace_back()))
      return false;
  return true;
}

/// Reads the part of an entry after the hash. Null if it is damaged.
static std::optional<CacheEntry> parseEntry(StringRef text, StringRef key) {
  auto [header, contents] = text.split('\n');
  llvm::Expected<json::Value> value = json::parse(header);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  if (!object || object->getString("key").value_or("") != key)
    return std::nullopt;
  const json::Array *files = object->getArray("files"), *diagnostics = object->getArray("diagnostics");
  if (!files || !diagnostics)
    return std::nullopt;
  CacheEntry entry;
  for (const json::Value &file : *files) {
    const json::Object *described = file.getAsObject();
    uint64_t size = described ? described->getInteger("size").value_or(-1) : -1;
    if (size > contents.size())
      return std::nullopt;
    entry.files.push_back({described->getString("name").value_or("").str(), contents.take_front(size).str()});
    contents = contents.drop_front(size);
  }
  for (const json::Value &diag : *diagnostics)
    if (!fromJson(diag, entry.diagnostics.emplace_back()))
      return std::nullopt;
  return entry;
}

std::optional<CacheEntry> BundleCache::find(StringRef key, std::string &warning) const {
  std::string path = getPath(key + kEntrySuffix);
  // Read, not mapped: it stays as it is if another process removes it.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer) {
    if (buffer.getError() != std::errc::no_such_file_or_directory)
      warning = "'" + path + "' cannot be read: " + buffer.getError().message() + "; compiled again";
    return std::nullopt;
  }
  StringRef text = (*buffer)->getBuffer();
  std::optional<CacheEntry> entry;
  if (text.consume_front(kMagic)) {
    auto [hash, rest] = text.split('\n');
    llvm::SHA256 computed;
    computed.update(rest);
    if (hashToHex(computed) == hash)
      entry = parseEntry(rest, key);
  }
  if (!entry) {
    warning = "'" + path + "', an entry of the cache, is damaged; compiled again";
    fs::remove(path);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // The last use.
  return entry;
}

std::string BundleCache::store(StringRef key, const CacheEntry &entry) const {
  json::Array files, diagnostics;
  uint64_t size = 0;
  for (const BundleFile &file : entry.files) {
    files.push_back(json::Object{{"name", file.name}, {"size", int64_t(file.contents.size())}});
    size += file.contents.size();
  }
  for (const CompileDiagnostic &diag : entry.diagnostics)
    diagnostics.push_back(toJson(diag));
  std::string header;
  llvm::raw_string_ostream(header) << json::Value(json::Object{{"key", key},
                                                               {"files", std::move(files)},
                                                               {"diagnostics", std::move(diagnostics)}})
                                   << "\n";
  if (size + header.size() > limit)
    return (Twine("the bundle of ") + Twine(size) + " bytes is not kept in cache '" + directory + "' of at most " +
            Twine(limit) + " bytes, which SHARDKIT_CACHE_SIZE sets")
        .str();
  llvm::SHA256 hash;
  hash.update(header);
  for (const BundleFile &file : entry.files)
    hash.update(file.contents);
  SmallString<128> temporary;
  int fd;
  std::error_code ec = fs::createUniqueFile(getPath("%%%%%%%%%%%%%%%%" + kTemporarySuffix), fd, temporary, fs::OF_None,
                                            fs::owner_read | fs::owner_write);
  if (!ec) {
    llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << kMagic << hashToHex(hash) << "\n" << header;
    for (const BundleFile &file : entry.files)
      os << file.contents;
    os.close();
    ec = os.error();
    os.clear_error();
    if (!ec)
      ec = fs::rename(temporary, getPath(key + kEntrySuffix));
    if (ec)
      fs::remove(temporary);
  }
  if (ec)
    return "cannot write to cache '" + directory + "': " + ec.message();
  removeOldest(key);
  return "";
}

void BundleCache::removeOldest(StringRef except) const {
  using Clock = std::chrono::system_clock;
  struct Entry {
    std::string path;
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) {
    fs::file_status status;
    if (fs::status(it->path(), status))
      continue;
    StringRef name = llvm::sys::path::filename(it->path());
    if (name.ends_with(kTemporarySuffix)) { // Left by a process that was killed.
      if (Clock::now() - status.getLastModificationTime() > std::chrono::hours(24))
        fs::remove(it->path());
      continue;
    }
    if (!name.ends_with(kEntrySuffix))
      continue;
    sum += status.getSize();
    if (!name.starts_with(except))
      entries.push_back({it->path(), status.getLastModificationTime(), status.getSize()});
  }
  llvm::sort(entries,
             [](const Entry &a, const Entry &b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  for (const Entry &entry : entries) {
    if (sum <= limit)
      break;
    fs::remove(entry.path);
    sum -= entry.bytes;
  }
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

std::unique_ptr<CacheLock> BundleCache::lock(StringRef key, llvm::function_ref<bool()> isCancelled) const {
  return std::make_unique<CacheLock>(getPath(key + kLockSuffix), isCancelled);
}

// Without the lock several may compile the same; each writes a full entry.
CacheLock::CacheLock(std::string path, llvm::function_ref<bool()> isCancelled) : path(std::move(path)) {
  while ((fd = ::open(this->path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) >= 0) {
    int status;
    while ((status = ::flock(fd, LOCK_EX | LOCK_NB)) && (errno == EWOULDBLOCK || errno == EINTR) && !isCancelled())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // The holder before removed the file.
    struct stat held, named;
    const bool isNamed = !::fstat(fd, &held) && !::stat(this->path.c_str(), &named) && held.st_ino == named.st_ino &&
                         held.st_dev == named.st_dev;
    if (!status && isNamed)
      return;
    ::close(fd);
    if (status)
      break;
  }
  fd = -1;
}

CacheLock::~CacheLock() {
  if (fd < 0)
    return;
  ::unlink(path.c_str());
  ::close(fd);
}
