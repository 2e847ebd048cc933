//===- Npy.cpp - NumPy's .npy format ----------------------------------------===//

#include "shardkit/rt/TensorFile.h"

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
        return bad("unknown key '" + key + "'");
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
  static Status bad(const std::string &what) {
    return invalid("malformed .npy header, " + what);
  }
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
    if (!eat('('))
      return bad("expected a shape");
    while (!eat(')')) {
      skip();
      size_t start = at_;
      int64_t size = 0;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, text_[at_] - '0', &size))
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
constexpr NpyType npyTypes[] = {
    {"f8", DType::F64}, {"f4", DType::F32}, {"f2", DType::F16},
    {"V2", DType::BF16}, {"i8", DType::I64}, {"i4", DType::I32},
    {"i2", DType::I16}, {"i1", DType::I8},  {"b1", DType::I1},
    {"u8", DType::I64}, {"u4", DType::I32}, {"u2", DType::I16},
    {"u1", DType::I8}};

} // namespace

Expected<StoredTensor> openNpy(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  unsigned char head[12] = {};
  if (file->size() < 10)
    return invalid(path + ": not an .npy file (" +
                   std::to_string(file->size()) + " bytes)");
  SK_RETURN_IF_ERROR(file->read(head, 0, 10));
  if (std::memcmp(head, "\x93NUMPY", 6) != 0)
    return invalid(path + ": not an .npy file");
  int major = head[6];
  if (major < 1 || major > 3)
    return invalid(path + ": .npy format version " + std::to_string(major) +
                   ", expected 1 to 3");
  int64_t prefix = major == 1 ? 10 : 12;
  int64_t length = head[8] | int64_t(head[9]) << 8;
  if (major > 1) {
    SK_RETURN_IF_ERROR(file->read(head, 0, 12));
    length |= int64_t(head[10]) << 16 | int64_t(head[11]) << 24;
  }
  if (length > (1 << 20) || prefix + length > file->size())
    return invalid(path + ": header of " + std::to_string(length) +
                   " bytes does not fit the file of " +
                   std::to_string(file->size()) + " bytes");
  std::string text(size_t(length), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), prefix, length));
  StoredTensor tensor;
  bool fortran = false;
  Status parsed = HeaderParser(std::move(text))
                      .parse(tensor.storedType, fortran, tensor.shape);
  if (!parsed.ok())
    return parsed.withContext(path);
  if (fortran)
    return invalid(path + ": the array is in Fortran order, expected C order "
                          "(numpy.ascontiguousarray)");
  const std::string &descr = tensor.storedType;
  for (const NpyType &type : npyTypes)
    if (descr.size() == 3 && std::strchr("<|=>", descr[0]) &&
        descr.compare(1, 2, type.code) == 0)
      tensor.dtype = type.dtype;
  if (!tensor.dtype)
    return invalid(path + ": element type '" + descr +
                   "', expected a float, integer or bool type of at most 8 "
                   "bytes (bf16 as '<V2')");
  if (descr[0] == '>' && dtypeSize(*tensor.dtype) > 1)
    return invalid(path + ": big-endian element type '" + descr +
                   "', expected little-endian");
  std::optional<int64_t> count = numElements(tensor.shape);
  if (!count)
    return invalid(path + ": the shape is too large");
  tensor.bytes = *count * dtypeSize(*tensor.dtype);
  tensor.offset = prefix + length;
  if (tensor.offset + tensor.bytes != file->size())
    return invalid(path + ": " +
                   (tensor.offset + tensor.bytes > file->size()
                        ? "truncated, "
                        : "bytes after the data, ") +
                   std::to_string(file->size()) + " bytes, expected " +
                   std::to_string(tensor.offset + tensor.bytes));
  tensor.name = path;
  tensor.file = std::move(file);
  return tensor;
}

Status writeNpy(const std::string &path, const TensorRef &tensor) {
  const char *code = "";
  for (const NpyType &type : npyTypes)
    if (type.dtype == tensor.dtype) {
      code = type.code;
      break;
    }
  std::string header = "{'descr': '";
  header += dtypeSize(tensor.dtype) == 1 ? '|' : '<';
  header += code;
  header += "', 'fortran_order': False, 'shape': (";
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
  int64_t elements = numElements(tensor.shape).value_or(0);
  return writeFile(path,
                   {{prefix.data(), int64_t(prefix.size())},
                    {header.data(), int64_t(header.size())},
                    {tensor.data, elements * dtypeSize(tensor.dtype)}});
}

} // namespace shardkit::rt
