//===- Npy.cpp - NumPy's .npy format --------------------------------------===//

#include "shardkit/rt/Formats/Npy.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace shardkit::rt {

namespace {

/// The header is a Python dict literal with the keys descr, fortran_order and
/// shape, in any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string text) : text_(std::move(text)) {}

  Status parse(std::string &descr, bool &fortran, Shape &shape) {
    bool seen[3] = {};
    if (!eat('{'))
      return bad("expected '{'");
    while (!eat('}')) {
      std::string key;
      if (!quoted(key) || !eat(':'))
        return bad("expected a key");
      if (seen[0] && key == "descr")
        return bad("descr stands twice");
      if (key == "descr") {
        if (!quoted(descr))
          return invalid("a structured element type, expected a plain one");
        seen[0] = true;
      } else if (key == "fortran_order") {
        if (!word("True") && !word("False"))
          return bad("expected True or False");
        fortran = text_[at_ - 1] == 'e' && text_[at_ - 2] == 'u';
        seen[1] = true;
      } else if (key == "shape") {
        SK_RETURN_IF_ERROR(tuple(shape));
        seen[2] = true;
      } else {
        return bad("unknown key " + quoteName(key));
      }
      if (!eat(',') && !peek('}'))
        return bad("expected ',' or '}'");
    }
    skip();
    if (at_ != text_.size())
      return bad("text after '}'");
    if (!seen[0] || !seen[1] || !seen[2])
      return bad("descr, fortran_order or shape is missing");
    return {};
  }

private:
  static Status bad(const std::string &what) { return invalid("malformed .npy header, " + what); }
  void skip() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]))
      ++at_;
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool eat(char c) {
    if (!peek(c))
      return false;
    ++at_;
    return true;
  }
  bool word(const char *expected) {
    skip();
    size_t n = std::strlen(expected);
    if (text_.compare(at_, n, expected) != 0)
      return false;
    at_ += n;
    return true;
  }
  bool quoted(std::string &result) {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return false;
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string::npos)
      return false;
    result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  Status tuple(Shape &shape) {
    shape.clear();
    if (!eat('('))
      return bad("expected a shape");
    while (!eat(')')) {
      skip();
      size_t start = at_;
      int64_t size = 0;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text_[at_] - '0', &size))
          return bad("a size is too large");
        ++at_;
      }
      if (at_ == start || shape.size() >= 64)
        return bad("expected a shape");
      shape.push_back(size);
      if (!eat(',') && !peek(')'))
        return bad("expected a shape");
    }
    return {};
  }

  std::string text_;
  size_t at_ = 0;
};

struct NpyType {
  const char *code; ///< Without the byte order.
  DType dtype;
};
constexpr NpyType npyTypes[] = {{"f8", DType::F64}, {"f4", DType::F32},      {"f2", DType::F16}, {"V2", DType::BF16},
                                {"i8", DType::I64}, {"i4", DType::I32},      {"i2", DType::I16}, {"i1", DType::I8},
                                {"b1", DType::I1},  {"u8", DType::U64},      {"u4", DType::U32}, {"u2", DType::U16},
                                {"u1", DType::U8},  {"V1", DType::F8E4M3FN}, {"c8", DType::C64}, {"c16", DType::C128}};

Expected<std::string> npyHeader(const TensorContent &tensor) {
  std::string code;
  for (const NpyType &type : npyTypes)
    if (type.dtype == tensor.dtype)
      code = type.code;
  if (tensor.dtype == DType::I4 || tensor.dtype == DType::U4) // NumPy lacks them.
    code = tensor.dtype == DType::I4 ? "i1" : "u1";
  if (code.empty()) // Raw bytes stand for one type alone.
    return invalid("tensor " + quoteName(tensor.name) + " is " + dtypeName(tensor.dtype) +
                   ", which .npy has no type for");
  std::string header = "{'descr': '";
  header += dtypeSize(tensor.dtype) == 1 ? '|' : '<';
  header += code + "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    header += (d ? " " : "") + std::to_string(tensor.shape[d]) + ",";
  if (tensor.shape.size() > 1)
    header.pop_back();
  header += "), }";
  // Magic, version and length take 10 bytes; the data starts at a multiple of
  // 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += char(header.size() & 0xff);
  prefix += char(header.size() >> 8);
  return prefix + header;
}

/// Calls write(data, bytes) with the elements, block by block.
template <typename Fn> Status forEachBlock(const TensorContent &tensor, Fn &&write) {
  int64_t size = dtypeSize(tensor.dtype), step = (4 << 20) / size;
  int64_t elements = numElements(tensor.shape).value_or(0);
  std::vector<char> block(size_t(std::min(step, elements) * size));
  for (int64_t at = 0; at < elements; at += step) {
    int64_t n = std::min(step, elements - at);
    SK_RETURN_IF_ERROR(tensor.read(at, n, block.data()));
    SK_RETURN_IF_ERROR(write(block.data(), n * size));
  }
  return {};
}

} // namespace

Expected<StoredTensor> parseNpy(std::shared_ptr<File> file, int64_t offset, int64_t bytes) {
  unsigned char head[12] = {};
  if (bytes < 10)
    return invalid("not an .npy file (" + std::to_string(bytes) + " bytes)");
  SK_RETURN_IF_ERROR(file->read(head, offset, 10));
  if (std::memcmp(head, "\x93NUMPY", 6) != 0)
    return invalid("not an .npy file");
  int major = head[6];
  if (major < 1 || major > 3)
    return invalid(".npy format version " + std::to_string(major) + ", expected 1 to 3");
  int64_t prefix = major == 1 ? 10 : 12;
  int64_t length = head[8] | int64_t(head[9]) << 8;
  if (major > 1) {
    if (bytes < 12)
      return invalid("not an .npy file (" + std::to_string(bytes) + " bytes)");
    SK_RETURN_IF_ERROR(file->read(head, offset, 12));
    length |= int64_t(head[10]) << 16 | int64_t(head[11]) << 24;
  }
  if (length > (1 << 20) || prefix + length > bytes)
    return invalid("header of " + std::to_string(length) + " bytes does not fit the file of " + std::to_string(bytes) +
                   " bytes");
  std::string text(size_t(length), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), offset + prefix, length));
  StoredTensor tensor;
  bool fortran = false;
  SK_RETURN_IF_ERROR(HeaderParser(std::move(text)).parse(tensor.storedType, fortran, tensor.shape));
  if (fortran)
    return invalid("the array is in Fortran order, expected C order (numpy.ascontiguousarray)");
  const std::string &descr = tensor.storedType;
  for (const NpyType &type : npyTypes)
    if (descr.size() > 1 && std::strchr("<|=>", descr[0]) && descr.compare(1, std::string::npos, type.code) == 0)
      tensor.dtype = type.dtype;
  if (!tensor.dtype)
    return invalid("element type " + quoteName(descr) +
                   ", expected a float, integer or bool type of at most 8 bytes (bf16 as '<V2'), or '<c8' or '<c16'");
  if (descr[0] == '>' && dtypeSize(*tensor.dtype) > 1)
    return invalid("big-endian element type '" + descr + "', expected little-endian");
  std::optional<int64_t> count = numElements(tensor.shape);
  if (!count)
    return invalid("the shape is too large");
  tensor.bytes = *count * dtypeSize(*tensor.dtype);
  int64_t expected;
  if (__builtin_add_overflow(prefix + length, tensor.bytes, &expected))
    return invalid("the shape is too large");
  if (expected != bytes)
    return invalid((expected > bytes ? "truncated, " : "bytes after the data, ") + std::to_string(bytes) +
                   " bytes, expected " + std::to_string(expected));
  tensor.offset = offset + prefix + length;
  tensor.file = std::move(file);
  return tensor;
}

Expected<StoredTensor> openNpy(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  int64_t size = file->size();
  auto tensor = parseNpy(std::move(file), 0, size);
  if (!tensor.ok()) // Reading errors name the file already.
    return tensor.status().code() == Code::IO ? tensor.status() : tensor.status().withContext(path);
  tensor->name = path;
  return tensor;
}

Status writeNpy(const std::string &path, const TensorContent &tensor) {
  SK_ASSIGN_OR_RETURN(std::string header, npyHeader(tensor));
  SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> writer, FileWriter::create(path));
  SK_RETURN_IF_ERROR(writer->write(header.data(), int64_t(header.size())));
  SK_RETURN_IF_ERROR(forEachBlock(tensor, [&](const char *data, int64_t bytes) { return writer->write(data, bytes); }));
  return writer->commit();
}

Status writeNpy(const std::string &path, const TensorRef &tensor) { return writeNpy(path, contentOf(tensor)); }

//===----------------------------------------------------------------------===//
// .npz: a zip file of .npy members
//===----------------------------------------------------------------------===//

namespace {

uint64_t little(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i)
    value = value << 8 | at[i];
  return value;
}

void putLittle(std::string &text, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    text += char(value >> (8 * i));
}

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kMaxDirectory = 64 << 20;

struct Member {
  std::string name;
  uint64_t method, flags, compressed, size, local;
};

/// The entries of the central directory.
Expected<std::vector<Member>> readDirectory(const File &file, uint64_t &directoryBegin) {
  const uint64_t size = uint64_t(file.size());
  if (size < 22)
    return invalid("not an .npz file (" + std::to_string(size) + " bytes)");
  // The end record may be followed by a comment of up to 64 kB.
  uint64_t tail = std::min<uint64_t>(size, 22 + 65535);
  std::vector<unsigned char> bytes(tail);
  SK_RETURN_IF_ERROR(file.read(bytes.data(), int64_t(size - tail), int64_t(tail)));
  size_t at = tail - 22;
  while (little(&bytes[at], 4) != kEnd || little(&bytes[at + 20], 2) != tail - 22 - at)
    if (at-- == 0)
      return invalid("not an .npz file, or one without its end (truncated file?)");
  uint64_t count = little(&bytes[at + 10], 2), length = little(&bytes[at + 12], 4), begin = little(&bytes[at + 16], 4),
           end = size - tail + at;
  if (little(&bytes[at + 4], 2) != 0 || little(&bytes[at + 6], 2) != 0)
    return invalid("an archive of several volumes, expected one");
  if (count == 0xffff || length == 0xffffffff || begin == 0xffffffff) {
    if (end < 20)
      return invalid("the zip64 locator is missing");
    unsigned char locator[20], record[56];
    SK_RETURN_IF_ERROR(file.read(locator, int64_t(end - 20), 20));
    uint64_t offset = little(locator + 8, 8);
    if (little(locator, 4) != kLocator64 || offset > end || end - offset < 56 + 20)
      return invalid("the zip64 locator is missing");
    SK_RETURN_IF_ERROR(file.read(record, int64_t(offset), 56));
    if (little(record, 4) != kEnd64)
      return invalid("the zip64 end record is missing");
    count = little(record + 32, 8);
    length = little(record + 40, 8);
    begin = little(record + 48, 8);
    end = offset;
  }
  if (length > kMaxDirectory || begin > end || length > end - begin || count > length / 46)
    return invalid("the directory of " + std::to_string(count) + " entries at byte " + std::to_string(begin) +
                   " does not fit the file");
  std::vector<unsigned char> directory(length);
  SK_RETURN_IF_ERROR(file.read(directory.data(), int64_t(begin), int64_t(length)));
  std::vector<Member> members;
  uint64_t p = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (length - p < 46 || little(&directory[p], 4) != kCentral)
      return invalid("entry " + std::to_string(i) + " of the directory is malformed");
    const unsigned char *entry = &directory[p];
    uint64_t nameLength = little(entry + 28, 2), extra = little(entry + 30, 2), comment = little(entry + 32, 2);
    if (length - p - 46 < nameLength + extra + comment)
      return invalid("entry " + std::to_string(i) + " of the directory is malformed");
    Member member{std::string(reinterpret_cast<const char *>(entry) + 46, nameLength),
                  little(entry + 10, 2),
                  little(entry + 8, 2),
                  little(entry + 20, 4),
                  little(entry + 24, 4),
                  little(entry + 42, 4)};
    // Sizes that do not fit stand in the zip64 field, in this order.
    uint64_t *wide[] = {&member.size, &member.compressed, &member.local};
    for (uint64_t x = 0; extra - x >= 4 && x < extra;) {
      const unsigned char *field = entry + 46 + nameLength + x;
      uint64_t id = little(field, 2), bytesOf = little(field + 2, 2);
      if (bytesOf > extra - x - 4)
        break;
      if (id == 1) {
        uint64_t used = 0;
        for (uint64_t *value : wide)
          if (*value == 0xffffffff && used + 8 <= bytesOf) {
            *value = little(field + 4 + used, 8);
            used += 8;
          }
      }
      x += 4 + bytesOf;
    }
    members.push_back(std::move(member));
    p += 46 + nameLength + extra + comment;
  }
  directoryBegin = begin;
  return members;
}

constexpr auto crcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k)
      c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}();

} // namespace

Expected<std::map<std::string, StoredTensor>> parseNpz(std::shared_ptr<File> file) {
  uint64_t directory = 0;
  SK_ASSIGN_OR_RETURN(std::vector<Member> members, readDirectory(*file, directory));
  std::map<std::string, StoredTensor> tensors;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Member &member : members) {
    auto fail = [&](const std::string &message) {
      return invalid("member " + quoteName(member.name) + ": " + message);
    };
    if (member.name.size() <= 4 || member.name.compare(member.name.size() - 4, 4, ".npy") != 0)
      return fail("expected NAME.npy");
    if (member.flags & 1)
      return fail("it is encrypted");
    if (member.method != 0)
      return fail("it is compressed, expected an uncompressed archive (numpy.savez)");
    if (member.compressed != member.size)
      return fail("its two sizes differ though it is not compressed");
    unsigned char local[30];
    if (member.local > directory || directory - member.local < 30)
      return fail("bytes " + std::to_string(member.local) + " on lie outside of the archive");
    SK_RETURN_IF_ERROR(file->read(local, int64_t(member.local), 30));
    uint64_t nameLength = little(local + 26, 2), extra = little(local + 28, 2);
    uint64_t begin = member.local + 30 + nameLength + extra;
    std::string name(nameLength, '\0');
    if (little(local, 4) != kLocal || begin > directory)
      return fail("no member starts at byte " + std::to_string(member.local));
    SK_RETURN_IF_ERROR(file->read(name.data(), int64_t(member.local) + 30, int64_t(nameLength)));
    if (name != member.name)
      return fail("the header at byte " + std::to_string(member.local) + " names " + quoteName(name));
    if (member.size > directory - begin)
      return fail("bytes " + std::to_string(begin) + " to " + std::to_string(begin + member.size) +
                  " lie outside of the archive");
    ranges.emplace_back(member.local, begin + member.size);
    auto tensor = parseNpy(file, int64_t(begin), int64_t(member.size));
    if (!tensor.ok())
      return tensor.status().withContext("member " + quoteName(member.name));
    tensor->name = member.name.substr(0, member.name.size() - 4);
    if (!tensors.emplace(tensor->name, *tensor).second)
      return fail("it appears twice");
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return invalid("members overlap at byte " + std::to_string(ranges[i].first));
  return tensors;
}

Expected<std::map<std::string, StoredTensor>> openNpz(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  auto tensors = parseNpz(std::move(file));
  if (!tensors.ok())
    return tensors.status().code() == Code::IO ? tensors.status() : tensors.status().withContext(path);
  return tensors;
}

Status writeNpz(const std::string &path, const std::vector<TensorContent> &tensors) {
  SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> writer, FileWriter::create(path));
  std::string directory;
  for (const TensorContent &tensor : tensors) {
    SK_ASSIGN_OR_RETURN(std::string header, npyHeader(tensor));
    std::string name = tensor.name + ".npy";
    // The check sum stands before the data: they are read twice.
    uint32_t crc = 0xffffffffu;
    uint64_t size = header.size();
    auto add = [&](const char *data, int64_t bytes) -> Status {
      for (int64_t i = 0; i < bytes; ++i)
        crc = crcTable[(crc ^ uint8_t(data[i])) & 255] ^ (crc >> 8);
      return {};
    };
    SK_RETURN_IF_ERROR(add(header.data(), int64_t(header.size())));
    SK_RETURN_IF_ERROR(forEachBlock(tensor, [&](const char *data, int64_t bytes) {
      size += uint64_t(bytes);
      return add(data, bytes);
    }));
    uint64_t at = uint64_t(writer->written());
    if (size > 0xfffffffeu || at > 0xfffffffeu || name.size() > 65535 || tensors.size() > 65534)
      return invalid(path + ": " + quoteName(tensor.name) +
                     " is too large for an .npz, expected less than 4 GB in all");
    std::string common;
    putLittle(common, 20, 2);    // Version needed.
    putLittle(common, 0x800, 2); // Names are UTF-8.
    putLittle(common, 0, 2);
    putLittle(common, 0x00210000, 4); // 1980-01-01: the same input, the same bytes.
    putLittle(common, crc ^ 0xffffffffu, 4);
    putLittle(common, size, 4);
    putLittle(common, size, 4);
    putLittle(common, name.size(), 2);
    std::string local;
    putLittle(local, kLocal, 4);
    // An extra field aligns the data to 64 bytes.
    uint64_t extra = 4 + (64 - (at + 30 + name.size() + 4) % 64) % 64;
    local += common;
    putLittle(local, extra, 2);
    local += name;
    putLittle(local, 0xd935, 2);
    putLittle(local, extra - 4, 2);
    local.append(extra - 4, '\0');
    local += header;
    SK_RETURN_IF_ERROR(writer->write(local.data(), int64_t(local.size())));
    SK_RETURN_IF_ERROR(
        forEachBlock(tensor, [&](const char *data, int64_t bytes) { return writer->write(data, bytes); }));
    putLittle(directory, kCentral, 4);
    putLittle(directory, 20, 2);
    directory += common;
    directory.append(2 + 2 + 2 + 2 + 4, '\0'); // Extra, comment, disk, attributes.
    putLittle(directory, at, 4);
    directory += name;
  }
  int64_t begin = writer->written();
  if (begin > int64_t(0xfffffffe))
    return invalid(path + ": too large for an .npz, expected less than 4 GB in all");
  std::string end;
  putLittle(end, kEnd, 4);
  putLittle(end, 0, 4);
  putLittle(end, tensors.size(), 2);
  putLittle(end, tensors.size(), 2);
  putLittle(end, directory.size(), 4);
  putLittle(end, uint64_t(begin), 4);
  putLittle(end, 0, 2);
  directory += end;
  SK_RETURN_IF_ERROR(writer->write(directory.data(), int64_t(directory.size())));
  return writer->commit();
}

} // namespace shardkit::rt
