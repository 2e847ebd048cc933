//===- FormatsTest.cpp - Every format, good and bad -----------------------===//

#include "Malformed.h"
#include "Support.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"
#include "shardkit/rt/Support/File.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

using Json = nlohmann::json;

std::vector<char> somebytes(int64_t count) {
  std::vector<char> bytes(static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = char(i * 37 + 11);
  return bytes;
}

std::vector<char> readAll(const StoredTensor &tensor) {
  std::vector<char> bytes(static_cast<size_t>(tensor.bytes));
  EXPECT_TRUE(tensor.file->read(bytes.data(), tensor.offset, tensor.bytes).ok());
  return bytes;
}

Status writeWord(const std::string &path) { return writeFile(path, {{"word", 4}}); }

TEST(FileWriter, replacesFilesAndTheTargetsOfLinks) {
  TempDir dir;
  namespace fs = std::filesystem;
  writeText(dir / "file", "old");
  fs::create_directory(dir / "sub");
  fs::create_symlink("../file", dir / "sub/link");
  fs::create_symlink("sub/link", dir / "twice");
  fs::create_symlink("sub/new", dir / "dangling");
  fs::create_symlink("self", dir / "self");
  for (const char *name : {"twice", "dangling"}) {
    EXPECT_TRUE(checkWritable(dir / name).ok());
    EXPECT_TRUE(writeWord(dir / name).ok());
    EXPECT_TRUE(fs::is_symlink(dir / name));
  }
  EXPECT_TRUE(fs::is_symlink(dir / "sub/link"));
  EXPECT_EQ(readText(dir / "file"), "word");
  EXPECT_EQ(readText(dir / "sub/new"), "word");
  for (auto [name, message] : {std::pair("self", "Too many levels of symbolic links"),
                               {"sub", "Is a directory"},
                               {"none/file", "No such file or directory"}}) {
    const std::string wanted = (dir / name) + ": cannot be written: " + message;
    EXPECT_EQ(writeWord(dir / name).message(), wanted);
    EXPECT_EQ(checkWritable(dir / name).message(), wanted);
  }
  // Nothing else is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 5);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir / "sub"), {}), 2);
}

TEST(FileWriter, writesToPipesAndDevicesInPlace) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  int reader = ::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  std::filesystem::create_symlink("pipe", dir / "link");
  EXPECT_TRUE(checkWritable(dir / "link").ok());
  EXPECT_TRUE(writeWord(dir / "link").ok());
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
  char text[8];
  EXPECT_EQ(::read(reader, text, sizeof text), 4);
  ::close(reader);
  // What is not committed leaves it as well.
  reader = ::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(FileWriter::create(dir / "pipe").ok());
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
  // Nodes like those of null and full; not everybody may make them.
  if (::mknod((dir / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
      ::mknod((dir / "full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "no device nodes here";
  if (int fd = ::open((dir / "null").c_str(), O_WRONLY); fd < 0)
    GTEST_SKIP() << "device nodes cannot be opened here";
  else
    ::close(fd);
  EXPECT_TRUE(writeWord(dir / "null").ok());
  EXPECT_EQ(writeWord(dir / "full").message(), (dir / "full") + ": cannot be written: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file(dir / "null"));
  EXPECT_TRUE(std::filesystem::is_character_file(dir / "full"));
}

TEST(Npy, roundTripsEveryTypeAndRank) {
  TempDir dir;
  std::vector<DType> dtypes(std::begin(allDTypes), std::end(allDTypes));
  dtypes.insert(dtypes.end(), {DType::C64, DType::C128});
  for (DType dtype : dtypes)
    for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 0, 3}, Shape{1, 2, 3, 4}}) {
      int64_t bytes = *numElements(shape) * dtypeSize(dtype);
      std::vector<char> data = somebytes(bytes);
      std::string path = dir / "t.npy";
      ASSERT_TRUE(writeNpy(path, {"t", dtype, shape, data.data()}).ok());
      auto stored = openNpy(path);
      ASSERT_TRUE(stored.ok()) << stored.status().message();
      EXPECT_EQ(stored->dtype, dtype);
      EXPECT_EQ(stored->shape, shape);
      EXPECT_EQ(stored->offset % 64, 0);
      EXPECT_EQ(readAll(*stored), data);
    }
}

std::string npy(const std::string &header, const std::string &data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += char(major);
  text += '\0';
  text += char(header.size() & 0xff);
  text += char(header.size() >> 8);
  if (major > 1)
    text += std::string(2, '\0');
  return text + header + data;
}

TEST(Npy, readsHeadersInOtherForms) {
  TempDir dir;
  for (int major : {1, 2, 3}) {
    writeText(dir / "a.npy", npy("{\"shape\":(2,) , \"descr\":\"<u2\",\"fortran_order\":False}", "abcd", major));
    auto stored = openNpy(dir / "a.npy");
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    EXPECT_EQ(stored->dtype, DType::U16);
    EXPECT_EQ(stored->shape, Shape{2});
  }
}

TEST(Npy, malformedFilesAreOneError) {
  TempDir dir;
  auto expect = [&](const std::string &text, const char *message) {
    writeText(dir / "bad.npy", text);
    keepMalformed(dir / "bad.npy", message);
    EXPECT_ERROR(openNpy(dir / "bad.npy").status(), message);
  };
  auto header = [](const std::string &descr, const std::string &order, const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  };
  expect("", "not an .npy file");
  expect("hello, this is no array", "not an .npy file");
  expect(npy(header("'<f4'", "False", "(1,)"), "abcd", 9), "format version 9");
  expect(npy(header("'<f4'", "True", "(2, 2)"), std::string(16, 'x')), "Fortran order, expected C order");
  expect(npy(header("'>f4'", "False", "(1,)"), "abcd"), "big-endian");
  expect(npy(header("'<c4'", "False", "(1,)"), "abcd"), "element type '<c4'");
  expect(npy(header("'>c16'", "False", "(1,)"), std::string(16, 'x')), "big-endian");
  expect(npy(header("'<c16'", "False", "(1,)"), "abcdefgh"), "truncated");
  expect(npy(header("'|O'", "False", "(1,)"), "abcdefgh"), "element type '|O'");
  expect(npy(header("[('a', '<f4')]", "False", "(1,)"), "abcd"), "structured element type");
  expect(npy(header("'<f4'", "False", "(2,)"), "abcd"), "truncated");
  expect(npy(header("'<f4'", "False", "(1,)"), "abcdefgh"), "bytes after the data");
  expect(npy(header("'<f4'", "False", "(99999999999999999999,)"), "abcd"), "too large");
  expect(npy(header("'<f4'", "False", "(4294967296, 4294967296)"), "abcd"), "the shape is too large");
  expect(npy(header("'<f4'", "False", "(-1,)"), "abcd"), "expected a shape");
  expect(npy(header("'<f4'", "Maybe", "(1,)"), "abcd"), "True or False");
  expect(npy("{'descr': '<f4'}\n", "abcd"), "is missing");
  expect(npy("{'descr': '<f4', 'x': 1}\n", "abcd"), "unknown key 'x'");
  expect(npy("{'descr': '<f4", ""), "");
  std::string sharded = npy(header("'<f4'", "False", "(1,)"), "abcd");
  expect(sharded.substr(0, 20), "does not fit the file");
  EXPECT_ERROR(openNpy(dir / "none.npy").status(), "cannot be opened");
  EXPECT_ERROR(openNpy(dir.path()).status(), "not a regular file");
}

TEST(Safetensors, roundTripsEveryType) {
  TempDir dir;
  std::vector<std::vector<char>> data;
  std::vector<TensorRef> tensors;
  for (DType dtype : allDTypes)
    data.push_back(somebytes(6 * dtypeSize(dtype)));
  for (size_t i = 0; i < data.size(); ++i)
    tensors.push_back({std::string("t.") + dtypeName(allDTypes[i]), allDTypes[i], {2, 3}, data[i].data()});
  tensors.push_back({"scalar", DType::F32, {}, data[1].data()});
  tensors.push_back({"empty", DType::F32, {0, 4}, data[1].data()});
  ASSERT_TRUE(writeSafetensors(dir / "w.safetensors", tensors).ok());
  auto read = openSafetensors(dir / "w.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), tensors.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const StoredTensor &stored = (*read)[tensors[i].name];
    EXPECT_EQ(stored.dtype, allDTypes[i]);
    EXPECT_EQ(stored.shape, (Shape{2, 3}));
    EXPECT_EQ(readAll(stored), data[i]);
    EXPECT_EQ(stored.offset % dtypeSize(allDTypes[i]), 0);
  }
}

std::string safetensors(const std::string &header, const std::string &data) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += char(uint64_t(header.size()) >> (8 * i));
  return text + header + data;
}

std::string entry(const std::string &name, const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, malformedFilesAreOneError) {
  TempDir dir;
  auto expect = [&](const std::string &text, const char *message) {
    writeText(dir / "bad.safetensors", text);
    keepMalformed(dir / "bad.safetensors", message);
    auto read = openSafetensors(dir / "bad.safetensors");
    EXPECT_ERROR(read.status(), message);
    EXPECT_EQ(read.status().message().find(dir / "bad.safetensors"), 0u);
  };
  std::string good = "{" + entry("a", "F32", "[2]", "[0,8]") + "}";
  expect("abc", "not a .safetensors file");
  expect(std::string(7, '\xff') + '\x7f', "expected at most 100000000");
  expect(safetensors(good, "").substr(0, 30), "does not fit the file");
  expect(safetensors("  {}", ""), "does not start with '{'");
  expect(safetensors("{\"a\":", ""), "not valid JSON");
  expect(safetensors(good, "1234"), "tensor 'a': bytes 0 to 8 lie beyond the end of the data at 4");
  expect(safetensors(good, "123456789"), "1 bytes after the last tensor");
  expect(safetensors("{" + entry("a", "F31", "[2]", "[0,8]") + "}", "12345678"), "unknown dtype 'F31'");
  expect(safetensors("{" + entry("a", "F32", "[3]", "[0,8]") + "}", "12345678"),
         "bytes 0 to 8, expected 12 bytes for F32 3");
  expect(safetensors("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", "12345678"), "not a size");
  expect(safetensors("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}", "12345678"), "not a size");
  expect(safetensors("{" + entry("a", "F32", "[4294967296,4294967296,4294967296]", "[0,8]") + "}", "12345678"),
         "the shape is too large");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[8,0]") + "}", "12345678"), "data_offsets is not [begin, end]");
  expect(safetensors("{" + entry("a", "F4", "[3]", "[0,1]") + "}", "1"), "do not fill whole bytes");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]") + "}",
                     "123456789012"),
         "tensor 'b': starts at byte 4 and overlaps another, expected 8");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[1]", "[12,16]") + "}",
                     "1234567890123456"),
         "tensor 'b': starts at byte 12 after a hole, expected 8");
  expect(safetensors("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[0,4]") + "}", "1234"),
         "tensor 'a' appears twice");
  expect(safetensors("{\"a\":3}", ""), "expected dtype, shape and data_offsets");
  expect(safetensors("{\"__metadata__\":{\"a\":3}}", ""), "__metadata__ 'a' is not a string");
  EXPECT_ERROR(openSafetensors(dir / "none.safetensors").status(), "none.safetensors: cannot be opened");
}

TEST(Safetensors, readsEveryTypeOfTheFormat) {
  TempDir dir;
  struct {
    const char *name;
    std::optional<DType> dtype;
    int bytes;
  } types[] = {{"F64", DType::F64, 8},
               {"F32", DType::F32, 4},
               {"F16", DType::F16, 2},
               {"BF16", DType::BF16, 2},
               {"I64", DType::I64, 8},
               {"I32", DType::I32, 4},
               {"I16", DType::I16, 2},
               {"I8", DType::I8, 1},
               {"U64", DType::U64, 8},
               {"U32", DType::U32, 4},
               {"U16", DType::U16, 2},
               {"U8", DType::U8, 1},
               {"BOOL", DType::I1, 1},
               {"F8_E4M3", DType::F8E4M3FN, 1},
               {"F8_E5M2", DType::F8E5M2, 1},
               {"F8_E8M0", DType::F8E8M0FNU, 1},
               {"F8_E4M3FNUZ", DType::F8E4M3FNUZ, 1},
               {"F8_E5M2FNUZ", DType::F8E5M2FNUZ, 1},
               {"C64", DType::C64, 8}};
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  int64_t at = 0;
  for (auto &type : types) {
    header += "," + entry(type.name, type.name, "[3]",
                          "[" + std::to_string(at) + "," + std::to_string(at + 3 * type.bytes) + "]");
    at += 3 * type.bytes;
  }
  writeText(dir / "a.safetensors", safetensors(header + "}   ", std::string(size_t(at), 'x')));
  auto read = openSafetensors(dir / "a.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (auto &type : types)
    EXPECT_EQ((*read)[type.name].dtype, type.dtype) << type.name;
}

TEST(Safetensors, writesTypesThatProgramsLackAndRefusesI4) {
  TempDir dir;
  std::vector<char> data = somebytes(24);
  for (DType dtype : {DType::U64, DType::U32, DType::U16, DType::U8, DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ,
                      DType::F8E5M2FNUZ, DType::F8E8M0FNU, DType::C64}) {
    ASSERT_TRUE(writeSafetensors(dir / "a.safetensors", {{"t", dtype, {3}, data.data()}}).ok());
    auto read = openSafetensors(dir / "a.safetensors");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ((*read)["t"].dtype, dtype);
  }
  EXPECT_ERROR(writeSafetensors(dir / "b.safetensors", {{"t", DType::I4, {3}, data.data()}}),
               "tensor 't' is i4, which .safetensors has no type for");
  EXPECT_ERROR(writeSafetensors(dir / "b.safetensors", {{"t", DType::C128, {1}, data.data()}}),
               "tensor 't' is c128, which .safetensors has no type for");
  EXPECT_FALSE(std::filesystem::exists(dir / "b.safetensors"));
}

TEST(Weights, directoriesAndIndices) {
  TempDir dir;
  float one = 1, two = 2;
  EXPECT_ERROR(openWeights(dir.path()).status(), "holds no *.safetensors");
  EXPECT_ERROR(openWeights(dir / "gone").status(), "cannot be opened");
  ASSERT_TRUE(writeSafetensors(dir / "a.safetensors", {{"a", DType::F32, {1}, &one}}).ok());
  ASSERT_TRUE(writeSafetensors(dir / "b.safetensors", {{"b", DType::F32, {1}, &two}}).ok());
  auto both = openWeights(dir.path());
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->tensors.size(), 2u);

  std::string index = dir / "m.safetensors.index.json";
  writeText(index, R"({"metadata": {}, "weight_map": {"a": "a.safetensors"}})");
  for (const std::string &path : {dir.path(), index}) {
    auto set = openWeights(path);
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_EQ(set->tensors.size(), 1u);
  }
  writeText(index, R"({"weight_map": {"c": "a.safetensors"}})");
  EXPECT_ERROR(openWeights(index).status(), "'c' is not in 'a.safetensors'");
  writeText(index, R"({"weight_map": {"c": "../a.safetensors"}})");
  EXPECT_ERROR(openWeights(index).status(), "leaves the directory");
  writeText(index, R"({"weight_map": {"c": "x.safetensors"}})");
  EXPECT_ERROR(openWeights(index).status(), "x.safetensors: cannot be opened");
  writeText(index, "{]");
  EXPECT_ERROR(openWeights(index).status(), "the index is not valid JSON at byte 2");
  std::filesystem::remove(index);
  std::filesystem::copy(dir / "a.safetensors", dir / "c.safetensors");
  EXPECT_ERROR(openWeights(dir.path()).status(), "appears in another file");
}

//===----------------------------------------------------------------------===//
// .npz
//===----------------------------------------------------------------------===//

TEST(Npz, roundTripsAndIsReadInPlace) {
  TempDir dir;
  std::vector<char> data = somebytes(48);
  std::vector<TensorContent> contents;
  contents.push_back(contentOf(TensorRef{"a", DType::F32, {3, 4}, data.data()}));
  contents.push_back(contentOf(TensorRef{"dir/b", DType::U8, {}, data.data()}));
  contents.push_back(contentOf(TensorRef{"c", DType::F64, {0}, data.data()}));
  ASSERT_TRUE(writeNpz(dir / "w.npz", contents).ok());
  auto read = openNpz(dir / "w.npz");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)["a"].shape, (Shape{3, 4}));
  EXPECT_EQ((*read)["a"].offset % 64, 0);
  EXPECT_EQ(readAll((*read)["a"]), data);
  EXPECT_EQ((*read)["dir/b"].dtype, DType::U8);
  auto set = openWeights(dir.path());
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->format, "npz");
  ASSERT_TRUE(writeNpz(dir / "empty.npz", {}).ok());
  EXPECT_EQ(openNpz(dir / "empty.npz")->size(), 0u);
}

TEST(Npz, keepsTypesOrRefusesThem) {
  TempDir dir;
  std::vector<char> data = somebytes(48);
  for (int t = 0; t < kNumStoredDTypes; ++t) {
    const DType dtype = DType(t);
    Status status = writeNpz(dir / "w.npz", {contentOf(TensorRef{"t", dtype, {3}, data.data()})});
    if (isFloat(dtype) && dtypeSize(dtype) == 1 && dtype != DType::F8E4M3FN) {
      EXPECT_ERROR(status, std::string("tensor 't' is ") + dtypeName(dtype) + ", which .npy has no type for");
      EXPECT_FALSE(std::filesystem::exists(dir / "w.npz"));
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    const StoredTensor stored = (*openNpz(dir / "w.npz"))["t"];
    // The values of packed integers, a byte each.
    EXPECT_EQ(stored.dtype, dtype == DType::I4 ? DType::I8 : dtype == DType::U4 ? DType::U8 : dtype);
    EXPECT_EQ(readAll(stored), std::vector<char>(data.begin(), data.begin() + 3 * dtypeSize(dtype)));
    std::filesystem::remove(dir / "w.npz");
  }
}

TEST(Npz, readsWhatPythonWrites) {
  // zipfile with a zip64 extra field in the local header, as numpy.savez has it.
  TempDir dir;
  std::string script = "import zipfile,struct;h=b\"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\";"
                       "h+=b' '*(53-len(h)%64)+b'\\n';d=b'\\x93NUMPY\\1\\0'+struct.pack('<H',len(h))+h;"
                       "z=zipfile.ZipFile('" +
                       dir.path() +
                       "/p.npz','w');"
                       "f=z.open('x.npy','w',force_zip64=True);f.write(d+struct.pack('<ii',7,-9));f.close();z.close()";
  writeText(dir / "s.py", script);
  ASSERT_EQ(std::system(("python3 " + (dir / "s.py")).c_str()), 0);
  auto read = openNpz(dir / "p.npz");
  ASSERT_TRUE(read.ok()) << read.status().message();
  int32_t values[2];
  ASSERT_TRUE((*read)["x"].readElements(0, 2, values).ok());
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], -9);
}

TEST(Npz, malformedArchivesAreOneError) {
  TempDir dir;
  std::vector<char> data = somebytes(16);
  std::vector<TensorContent> contents;
  contents.push_back(contentOf(TensorRef{"a", DType::F32, {4}, data.data()}));
  contents.push_back(contentOf(TensorRef{"b", DType::F32, {4}, data.data()}));
  ASSERT_TRUE(writeNpz(dir / "good.npz", contents).ok());
  const std::string good = readText(dir / "good.npz");
  const size_t end = good.size() - 22, directory = good.find("PK\1\2");
  const size_t second = good.find("PK\1\2", directory + 4), local = good.find("PK\3\4", 4);
  auto expect = [&](const std::string &text, const char *message) {
    writeText(dir / "bad.npz", text);
    std::filesystem::remove(dir / "good.npz");
    keepMalformed(dir / "bad.npz", message);
    auto read = openNpz(dir / "bad.npz");
    EXPECT_ERROR(read.status(), message);
    EXPECT_EQ(read.status().message().find(dir / "bad.npz"), 0u);
  };
  auto with = [&](size_t at, std::string bytes) {
    std::string text = good;
    text.replace(at, bytes.size(), bytes);
    return text;
  };
  expect("", "not an .npz file (0 bytes)");
  expect("PK", "not an .npz file (2 bytes)");
  expect(good.substr(0, end), "without its end (truncated file?)");
  expect(good.substr(0, end + 12), "without its end");
  expect(good.substr(directory), "does not fit the file");
  expect(with(end + 4, "\1"), "of several volumes");
  expect(with(end + 10, "\3"), "the directory of 3 entries");
  expect(with(end + 12, std::string("\xff\xff\xff\x7f", 4)), "does not fit the file");
  expect(with(end + 16, std::string("\xff\xff\xff\xff", 4)), "zip64 locator is missing");
  expect(with(directory, "XX"), "entry 0 of the directory is malformed");
  expect(with(directory + 8, "\1"), "member 'a.npy': it is encrypted");
  expect(with(directory + 10, "\x8"), "it is compressed, expected an uncompressed archive");
  expect(with(directory + 20, "\1"), "its two sizes differ");
  expect(with(directory + 28, "\xff\xff"), "entry 0 of the directory is malformed");
  expect(with(directory + 42, std::string("\xff\xff\xff\x7f", 4)), "lie outside of the archive");
  expect(with(directory + 42, "\1"), "no member starts at byte 1");
  expect(with(directory + 46, "b"), "the header at byte 0 names 'a.npy'");
  expect(with(directory + 50, "x"), "expected NAME.npy");
  expect(with(local, "XX"), "no member starts at byte");
  expect(with(directory + 20, std::string("\xff\xff\xff\0\xff\xff\xff\0", 8)), "lie outside of the archive");
  expect(with(directory + 20, std::string("\x7f\0\0\0\x7f\0\0\0", 8)), "does not fit the file of 127 bytes");
  expect(with(64, "X"), "member 'a.npy': not an .npy file");
  // Both entries name one member.
  std::string twice = with(second + 46, "a");
  twice.replace(second + 42, 4, std::string(4, '\0'));
  expect(twice, "member 'a.npy': it appears twice");
}

//===----------------------------------------------------------------------===//
// TVM's tensor cache
//===----------------------------------------------------------------------===//

Json record(const std::string &name, const Json &shape, const std::string &dtype, int64_t nbytes, int64_t offset,
            const std::string &format = "raw") {
  return {{"name", name},     {"shape", shape},   {"dtype", dtype},
          {"format", format}, {"nbytes", nbytes}, {"byteOffset", offset}};
}
Json cache(const std::vector<Json> &records, int64_t nbytes, const std::string &path = "p.bin") {
  Json list = Json::array();
  for (const Json &r : records)
    list.push_back(r);
  return {{"metadata", Json::object()},
          {"records", {{{"dataPath", path}, {"format", "raw-shard"}, {"nbytes", nbytes}, {"records", list}}}}};
}

TEST(TensorCache, readsRawBf16AndPackedRecordsAtOddOffsets) {
  TempDir dir;
  std::string data = "?";
  float f[2] = {1.5f, -2.25f};
  data.append(reinterpret_cast<char *>(f), 8);
  data += std::string("\xc0\x3f\x10\xc0", 4); // 1.5 and -2.25 in bf16.
  data += std::string("\x21\x8f\x07", 3);     // i4: 1 2 -1 -8 7
  data += std::string("\x21\x8f\x07", 3);
  for (const char *name : {"tensor-cache.json", "ndarray-cache.json"}) {
    writeText(dir / "p.bin", data);
    writeText(dir / name, cache({record("b", {2}, "float32", 4, 9, "f32-to-bf16"), record("a", {2}, "float32", 8, 1),
                                 record("q", {5}, "int4", 3, 13), record("u", {5}, "uint4", 3, 16),
                                 // TVM's writer stamps the format on every record.
                                 record("s", {1}, "float16", 2, 19, "f32-to-bf16")},
                                21)
                              .dump());
    data += "hi";
    writeText(dir / "p.bin", data.substr(0, 21));
    auto set = openWeights(dir.path());
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_EQ(set->format, "tensor-cache");
    float got[2];
    for (const char *tensor : {"a", "b"}) {
      ASSERT_TRUE(set->tensors[tensor].readElements(0, 2, got).ok());
      EXPECT_EQ(got[0], 1.5f);
      EXPECT_EQ(got[1], -2.25f);
    }
    ASSERT_TRUE(set->tensors["b"].readElements(1, 1, got).ok());
    EXPECT_EQ(got[0], -2.25f);
    int8_t i4[5];
    ASSERT_TRUE(set->tensors["q"].readElements(0, 5, i4).ok());
    EXPECT_EQ(std::vector<int8_t>(i4, i4 + 5), (std::vector<int8_t>{1, 2, -1, -8, 7}));
    ASSERT_TRUE(set->tensors["q"].readElements(1, 3, i4).ok());
    EXPECT_EQ(std::vector<int8_t>(i4, i4 + 3), (std::vector<int8_t>{2, -1, -8}));
    ASSERT_TRUE(set->tensors["u"].readElements(0, 5, i4).ok());
    EXPECT_EQ(std::vector<int8_t>(i4, i4 + 5), (std::vector<int8_t>{1, 2, 15, 8, 7}));
    EXPECT_EQ(set->tensors["s"].dtype, DType::F16);
    std::filesystem::remove(dir / name);
    data.resize(19);
  }
}

TEST(TensorCache, roundTripsEveryTypeInSeveralFiles) {
  for (bool narrow : {false, true}) {
    TempDir dir;
    std::vector<std::vector<char>> data;
    std::vector<TensorContent> contents;
    for (int t = 0; t < kNumStoredDTypes; ++t)
      data.push_back(somebytes(7 * dtypeSize(DType(t))));
    for (int t = 0; t < kNumStoredDTypes; ++t) {
      if (DType(t) == DType::I4 || DType(t) == DType::U4)
        for (char &c : data[size_t(t)])
          c = char(DType(t) == DType::I4 ? (c & 15) - 8 : c & 15);
      if (DType(t) == DType::F32 && narrow)
        for (size_t i = 0; i < 28; i += 4)
          data[size_t(t)][i] = data[size_t(t)][i + 1] = 0;
      contents.push_back(contentOf(TensorRef{dtypeName(DType(t)), DType(t), {7}, data[size_t(t)].data()}));
    }
    TensorCacheOptions options;
    options.f32 = narrow ? F32Storage::RoundToBF16 : F32Storage::Raw;
    options.maxFileBytes = 100;
    ASSERT_TRUE(writeTensorCache(dir.path(), contents, options).ok());
    auto set = openWeights(dir / "tensor-cache.json");
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_GT(set->files.size(), 2u);
    for (int t = 0; t < kNumStoredDTypes; ++t) {
      std::vector<char> got(data[size_t(t)].size());
      const StoredTensor &stored = set->tensors[dtypeName(DType(t))];
      ASSERT_EQ(stored.dtype, DType(t));
      ASSERT_TRUE(stored.readElements(0, 7, got.data()).ok());
      EXPECT_EQ(got, data[size_t(t)]) << dtypeName(DType(t));
    }
    // The check sums are those of RFC 1321.
    for (const StoredFile &file : set->files)
      EXPECT_EQ(std::system(("echo " + file.md5 + "  " + file.path + " | md5sum -c --quiet").c_str()), 0);
  }
}

TEST(TensorCache, nansStayNanThroughBf16) {
  TempDir dir;
  uint32_t bits[] = {0x7f800001, 0xff800001, 0x7fffffff, 0x7f800000, 0xff800000, 0x7f7fffff};
  std::vector<TensorContent> contents;
  contents.push_back(contentOf(TensorRef{"x", DType::F32, {6}, bits}));
  TensorCacheOptions options;
  options.f32 = F32Storage::RoundToBF16;
  ASSERT_TRUE(writeTensorCache(dir.path(), contents, options).ok());
  auto set = openWeights(dir.path());
  ASSERT_TRUE(set.ok());
  float got[6];
  ASSERT_TRUE(set->tensors["x"].readElements(0, 6, got).ok());
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(std::isnan(got[i])) << i;
  EXPECT_TRUE(std::signbit(got[1]));
  EXPECT_EQ(got[3], INFINITY);
  EXPECT_EQ(got[4], -INFINITY);
  EXPECT_EQ(got[5], INFINITY); // Rounds up.
  // Clipping, as TVM's writer does, changes finite values alone, and rounds the others alike.
  uint32_t large[] = {0x7f7fffff, 0xff7f8001, 0x7f7f7fff, 0xff7e8001, 0x7f800000, 0xff800000, 0x7f800001};
  options.f32 = F32Storage::ClipToBF16;
  ASSERT_TRUE(writeTensorCache(dir.path(), {contentOf(TensorRef{"x", DType::F32, {7}, large})}, options).ok());
  set = openWeights(dir.path());
  ASSERT_TRUE(set.ok());
  float clipped[7];
  ASSERT_TRUE(set->tensors["x"].readElements(0, 7, clipped).ok());
  EXPECT_EQ(clipped[0], 0x1.fep127f);
  EXPECT_EQ(clipped[1], -0x1.fep127f);
  EXPECT_EQ(clipped[2], 0x1.fep127f);
  EXPECT_EQ(clipped[3], -0x1.fep127f);
  EXPECT_EQ(clipped[4], INFINITY);
  EXPECT_EQ(clipped[5], -INFINITY);
  EXPECT_TRUE(std::isnan(clipped[6]));
  options.f32 = F32Storage::RoundToBF16;
  ASSERT_TRUE(writeTensorCache(dir.path(), contents, options).ok());
  // A NaN whose payload is in the stored half keeps it.
  writeText(dir / "params_shard_0.bin", std::string("\x81\x7f\xc1\xff\x80\x7f\x01\x00\x80\xff\x80\x00", 12));
  set = openWeights(dir.path());
  ASSERT_TRUE(set->tensors["x"].readElements(0, 6, got).ok());
  uint32_t raw[6];
  std::memcpy(raw, got, 24);
  EXPECT_EQ(raw[0], 0x7f810000u);
  EXPECT_EQ(raw[1], 0xffc10000u);
  EXPECT_EQ(raw[2], 0x7f800000u);
  EXPECT_EQ(raw[3], 0x00010000u);
}

TEST(TensorCache, malformedCachesAreOneError) {
  TempDir dir, outside;
  writeText(dir / "p.bin", std::string(16, 'x'));
  writeText(outside / "o.bin", std::string(16, 'x'));
  std::filesystem::create_symlink(outside / "o.bin", dir / "link.bin");
  std::filesystem::create_directory_symlink(outside.path(), dir / "linked");
  std::filesystem::create_symlink(dir / "p.bin", dir / "inner.bin");
  auto expectText = [&](const std::string &text, const std::string &message) {
    writeText(dir / "tensor-cache.json", text);
    keepMalformed(dir / "tensor-cache.json", message);
    auto set = openWeights(dir / "tensor-cache.json");
    EXPECT_ERROR(set.status(), message);
    EXPECT_EQ(set.status().message().find(dir.path()), 0u) << set.status().message();
  };
  auto expect = [&](const Json &json, const std::string &message) { expectText(json.dump(), message); };
  auto one = [](const Json &r) { return cache({r}, 16); };
  auto without = [&](const char *key) {
    Json r = record("a", {4}, "float32", 16, 0);
    r.erase(key);
    return cache({r}, 16);
  };
  auto top = [](const char *key, const Json &value) {
    Json json = cache({}, 16);
    json["records"][0][key] = value;
    return json;
  };
  expectText("", "not valid JSON");
  expectText("[]", "not a JSON object");
  expectText("{\"records\": [", "not valid JSON at byte");
  expectText("{\"records\": 3}", "with records");
  expectText("{}", "with records");
  expectText(std::string(200, '[') + std::string(200, ']'), "nested more than 32 levels");
  expectText("{\"records\": [], \"records\": []}", "'records' appears twice");
  expectText("{\"records\": [\"\xff\"]}", "not valid JSON");
  expect({{"records", {3}}}, "no dataPath");
  expect(top("dataPath", 3), "no dataPath");
  expect(top("dataPath", ""), "leaves the directory");
  expect(top("dataPath", "/etc/passwd"), "'/etc/passwd' leaves the directory");
  expect(top("dataPath", "../p.bin"), "'../p.bin' leaves the directory");
  expect(top("dataPath", "a/../../p.bin"), "leaves the directory");
  expect(top("dataPath", std::string("p.bin\0", 6)), "'p.bin\\x00' leaves the directory");
  expect(top("dataPath", "link.bin"), "a symbolic link that leaves the directory");
  expect(top("dataPath", "linked/o.bin"), "a symbolic link that leaves the directory");
  expect(top("dataPath", "gone.bin"), "gone.bin: cannot be opened");
  expect(top("dataPath", "linked"), "leaves the directory");
  expect(top("dataPath", "."), "not a regular file");
  expect(top("format", "packed"), "the format is not 'raw-shard'");
  expect(top("nbytes", -1), "nbytes is not a size");
  expect(top("nbytes", 1.5), "nbytes is not a size");
  expect(top("nbytes", 20), "16 bytes, expected 20 (truncated file?)");
  expect(top("nbytes", 12), "16 bytes, expected 12");
  expect(top("records", 1), "records is not a list");
  expect(top("md5sum", 1), "md5sum is not a string");
  Json twice = cache({}, 16);
  twice["records"].push_back(twice["records"][0]);
  expect(twice, "data file 'p.bin': listed twice");
  expect(one(3), "a record has no name");
  for (const char *key : {"shape", "dtype", "format", "nbytes", "byteOffset"})
    expect(without(key), "tensor 'a': '" + std::string(key) + "' is missing");
  expect(one(record("a", {4}, "float31", 16, 0)), "unknown dtype 'float31'");
  expect(one(record("a", {4}, "float32", 16, 0, "zip")), "format 'zip', expected 'raw'");
  expect(one(record("a", 4, "float32", 16, 0)), "shape is not a list");
  expect(one(record("a", {-4}, "float32", 16, 0)), "an entry that is not a size");
  expect(one(record("a", {INT64_MAX, 2}, "float32", 16, 0)), "the shape is too large");
  expect(one(record("a", {1ll << 32, 1ll << 32}, "int4", 16, 0)), "the shape is too large");
  expect(one(record("a", {5}, "float32", 16, 0)), "nbytes is 16, expected 20 for float32 5");
  expect(one(record("a", {4}, "float32", 16, 0, "f32-to-bf16")), "nbytes is 16, expected 8");
  expect(one(record("a", {5}, "int4", 2, 0)), "nbytes is 2, expected 3 for int4 5");
  expect(one(record("a", {4}, "float32", 16, 1)), "bytes 1 to 17 lie beyond the end of the data at 16");
  expect(one(record("a", {4}, "float32", 16, INT64_MAX - 3)), "lie beyond the end");
  expect(one(record("a", {4}, "float32", 16, -1)), "byteOffset is not a size");
  expect(cache({record("a", {2}, "float32", 8, 0), record("b", {2}, "float32", 8, 7)}, 16),
         "tensor 'b': starts at byte 7 and overlaps 'a', which ends at 8");
  expect(cache({record("a", {2}, "float32", 8, 0), record("a", {2}, "float32", 8, 8)}, 16), "tensor 'a' appears twice");
  // Not errors: links that stay inside, and those that are allowed.
  writeText(dir / "tensor-cache.json", top("dataPath", "inner.bin").dump());
  EXPECT_TRUE(openWeights(dir / "tensor-cache.json").ok());
  writeText(dir / "tensor-cache.json", top("dataPath", "link.bin").dump());
  OpenOptions follow;
  follow.followLinks = true;
  EXPECT_TRUE(openWeights(dir / "tensor-cache.json", follow).ok());
}

TEST(Weights, inconsistentIndices) {
  TempDir dir, outside;
  float one = 1;
  ASSERT_TRUE(writeSafetensors(dir / "a.safetensors", {{"a", DType::F32, {1}, &one}}).ok());
  std::filesystem::copy(dir / "a.safetensors", outside / "a.safetensors");
  std::filesystem::create_symlink(outside / "a.safetensors", dir / "l.safetensors");
  std::string index = dir / "m.safetensors.index.json";
  auto expect = [&](const std::string &text, const std::string &message) {
    writeText(index, text);
    keepMalformed(index, message);
    EXPECT_ERROR(openWeights(index).status(), message);
  };
  expect("", "not valid JSON");
  expect("[1]", "not a JSON object");
  expect("{\"weight_map\": []}", "with weight_map");
  expect("{\"weight_map\": {\"a\": 1}}", "weight 'a': the file is not a string");
  expect("{\"weight_map\": {\"a\": \"\"}}", "leaves the directory");
  expect("{\"weight_map\": {\"a\": \"/a.safetensors\"}}", "'/a.safetensors' leaves the directory");
  // What opens the file does not know where its path comes from.
  expect(R"({"weight_map": {"a": "a\nb.safetensors"}})", "a\\x0ab.safetensors: ");
  expect("{\"weight_map\": {\"a\": \"x/../../a.safetensors\"}}", "leaves the directory");
  expect("{\"weight_map\": {\"a\": \"l.safetensors\"}}", "symbolic link that leaves");
  expect("{\"weight_map\": {\"a\": \"a.safetensors\", \"a\": \"a.safetensors\"}}", "key 'a' appears twice");
  expect("{\"weight_map\": {\"a\\nb\": \"a.safetensors\"}}", "weight 'a\\x0ab' is not in");
  std::filesystem::remove(index);
  // A directory that is scanned obeys the same rule.
  EXPECT_ERROR(openWeights(dir.path()).status(), "symbolic link that leaves");
  std::filesystem::remove(dir / "l.safetensors");
  writeText(dir / "tensor-cache.json", "{\"records\": []}");
  EXPECT_ERROR(openWeights(dir.path()).status(), "holds .safetensors and tensor-cache.json");
}

TEST(Weights, pointersOfGitLfsAreNamed) {
  TempDir dir;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  for (const char *name : {"w.safetensors", "m.safetensors.index.json", "w.npy", "w.npz", "tensor-cache.json"}) {
    writeText(dir / name, pointer);
    EXPECT_ERROR(openWeights(dir / name).status(), std::string(name) + ": is a pointer of git-lfs, expected the file");
  }
  writeText(dir / "data.bin", pointer);
  writeText(dir / "tensor-cache.json",
            R"({"records": [{"dataPath": "data.bin", "format": "raw-shard", "nbytes": 12345, "records": []}]})");
  EXPECT_ERROR(openWeights(dir / "tensor-cache.json").status(), "data.bin: is a pointer of git-lfs");
  writeText(dir / "m.safetensors.index.json", R"({"weight_map": {"a": "w.safetensors"}})");
  EXPECT_ERROR(openWeights(dir / "m.safetensors.index.json").status(), "w.safetensors: is a pointer of git-lfs");
  // A file that only begins like one.
  writeText(dir / "w.npy", pointer.substr(0, 20));
  EXPECT_ERROR(openWeights(dir / "w.npy").status(), "not an .npy file");
}

TEST(Weights, linksOfTheHuggingFaceCacheAreFollowed) {
  TempDir dir;
  const float value = 3;
  const std::string model = "models--a--b", snapshot = model + "/snapshots/17c0";
  for (const std::string &path : {snapshot + "/part", model + "/blobs", std::string("models--a--c/blobs")})
    std::filesystem::create_directories(dir / path);
  for (const std::string &path : {model + "/blobs/5f", std::string("models--a--c/blobs/5f"), model + "/other"}) {
    ASSERT_TRUE(writeSafetensors(dir / "w.safetensors", {TensorRef{"w", DType::F32, {1}, &value}}).ok());
    std::filesystem::rename(dir / "w.safetensors", dir / path);
  }
  writeText(dir / (snapshot + "/m.safetensors.index.json"), R"({"weight_map": {"w": "part/w.safetensors"}})");
  const std::string link = dir / (snapshot + "/part/w.safetensors");
  auto openLinkTo = [&](const std::string &target) {
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
    return openWeights(dir / snapshot).status();
  };
  EXPECT_TRUE(openLinkTo("../../../blobs/5f").ok());
  EXPECT_TRUE(openLinkTo(dir / (model + "/blobs/5f")).ok());
  for (const char *target : {"../../../other", "../../../../models--a--c/blobs/5f"})
    EXPECT_ERROR(openLinkTo(target), "is a symbolic link that leaves the directory");
  // A link in blobs, and blobs that are a link themselves.
  std::filesystem::create_symlink("../other", dir / (model + "/blobs/60"));
  EXPECT_ERROR(openLinkTo("../../../blobs/60"), "is a symbolic link that leaves the directory");
  std::filesystem::rename(dir / (model + "/blobs"), dir / "blobs");
  std::filesystem::create_symlink("../blobs", dir / (model + "/blobs"));
  EXPECT_ERROR(openLinkTo("../../../blobs/5f"), "is a symbolic link that leaves the directory");
  // Such links of another directory lead out.
  std::filesystem::remove(dir / (model + "/blobs"));
  std::filesystem::rename(dir / "blobs", dir / (model + "/blobs"));
  std::filesystem::rename(dir / (model + "/snapshots"), dir / (model + "/copies"));
  EXPECT_ERROR(openWeights(dir / (model + "/copies/17c0")).status(), "is a symbolic link that leaves the directory");
}

TEST(Weights, listsOfTensorCaches) {
  TempDir dir;
  const float values[] = {1, 2};
  TensorCacheOptions options;
  options.f32 = F32Storage::RoundToBF16;
  ASSERT_TRUE(writeTensorCache(dir.path(), {contentOf(TensorRef{"w", DType::F32, {2}, values})}, options).ok());
  for (const char *name : {"tensor-cache-b16.json", "ndarray-cache-b16.json"}) {
    std::filesystem::rename(dir / "tensor-cache.json", dir / name);
    for (const std::string &path : {dir / name, dir.path()}) {
      auto set = openWeights(path);
      ASSERT_TRUE(set.ok()) << set.status().message();
      EXPECT_EQ(set->format, "tensor-cache");
      EXPECT_EQ(set->tensors.count("w"), 1u);
    }
    std::filesystem::rename(dir / name, dir / "tensor-cache.json");
  }
  writeText(dir / "tensor-cache-b16.json", "{}");
  EXPECT_TRUE(openWeights(dir.path()).ok());
}

TEST(Weights, manyTensorsTakeLinearTime) {
  TempDir dir;
  auto seconds = [&](int count) {
    const char byte = 1;
    std::vector<TensorRef> tensors;
    for (int i = 0; i < count; ++i)
      tensors.push_back({"layers." + std::to_string(i) + ".weight", DType::I8, {1}, &byte});
    const clock_t start = clock();
    EXPECT_TRUE(writeSafetensors(dir / "many.safetensors", tensors).ok());
    auto set = openWeights(dir / "many.safetensors");
    EXPECT_TRUE(set.ok() && set->tensors.size() == size_t(count));
    return double(clock() - start) / CLOCKS_PER_SEC;
  };
  // Quadratic time would be 256 times as much.
  const double few = std::min(seconds(2000), seconds(2000));
  EXPECT_LT(seconds(32000), 64 * few + 0.1);
}

TEST(File, unreadableFilesAreNotCalledMissing) {
  TempDir dir;
  std::filesystem::create_symlink("loop", dir / "loop");
  writeText(dir / "file", "");
  EXPECT_TRUE(checkExists(dir / "file").ok());
  EXPECT_ERROR(checkExists(dir / "none"), "none: no such file or directory");
  EXPECT_ERROR(checkExists(dir / "file/inner"), "inner: no such file or directory");
  EXPECT_ERROR(checkExists(dir / "loop"), "loop: cannot be accessed: Too many levels of symbolic links");
  EXPECT_ERROR(openWeights(dir / "loop").status(), "loop: cannot be opened: Too many levels of symbolic links");
}

TEST(ShardNames, theLastSuffixCounts) {
  EXPECT_EQ(shardName("w", 0, 2), "w_shard-1-of-2");
  auto parsed = parseShardName("a_shard-1-of-2_shard-3-of-4");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->name, "a_shard-1-of-2");
  EXPECT_EQ(parsed->rank, 2);
  EXPECT_EQ(parsed->ranks, 4);
  for (const char *name : {"w", "w_shard-1", "w_shard-0-of-2", "w_shard-3-of-2", "w_shard-01-of-2", "w_shard-1-of-2x",
                           "w_shard--1-of-2", "_shard-1-of-2", "w_shard-1-of-99999999999999999999", "w_shard-1-of-"})
    EXPECT_FALSE(parseShardName(name)) << name;
}

} // namespace
