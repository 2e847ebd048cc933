//===- TensorFileTest.cpp - .npy and .safetensors, good and bad -------------===//

#include "Support.h"

#include "shardkit/rt/TensorFile.h"

#include <nlohmann/json.hpp>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

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

TEST(Npy, roundTripsEveryTypeAndRank) {
  TempDir dir;
  for (DType dtype : allDTypes)
    for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 0, 3},
                               Shape{1, 2, 3, 4}}) {
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

std::string npy(const std::string &header, const std::string &data,
                int major = 1) {
  std::string text = "\x93NUMPY";
  text += char(major);
  text += '\0';
  text += char(header.size() & 0xff);
  text += char(header.size() >> 8);
  if (major > 1)
    text += std::string(2, '\0');
  return text + header + data;
}

TEST(Npy, readsHeadersInOtherSpellings) {
  TempDir dir;
  for (int major : {1, 2, 3}) {
    writeText(dir / "a.npy",
              npy("{\"shape\":(2,) , \"descr\":\"<u2\",\"fortran_order\":False}",
                  "abcd", major));
    auto stored = openNpy(dir / "a.npy");
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    EXPECT_EQ(stored->dtype, DType::I16);
    EXPECT_EQ(stored->shape, Shape{2});
  }
}

TEST(Npy, malformedFilesAreOneClearMessage) {
  TempDir dir;
  auto expect = [&](const std::string &text, const char *message) {
    writeText(dir / "bad.npy", text);
    EXPECT_ERROR(openNpy(dir / "bad.npy").status(), message);
  };
  auto header = [](const std::string &descr, const std::string &order,
                   const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order +
           ", 'shape': " + shape + ", }\n";
  };
  expect("", "not an .npy file");
  expect("hello, this is no array", "not an .npy file");
  expect(npy(header("'<f4'", "False", "(1,)"), "abcd", 9), "format version 9");
  expect(npy(header("'<f4'", "True", "(2, 2)"), std::string(16, 'x')),
         "Fortran order, expected C order");
  expect(npy(header("'>f4'", "False", "(1,)"), "abcd"), "big-endian");
  expect(npy(header("'<c8'", "False", "(1,)"), "abcdefgh"),
         "element type '<c8'");
  expect(npy(header("'|O'", "False", "(1,)"), "abcdefgh"),
         "element type '|O'");
  expect(npy(header("[('a', '<f4')]", "False", "(1,)"), "abcd"),
         "structured element type");
  expect(npy(header("'<f4'", "False", "(2,)"), "abcd"), "truncated");
  expect(npy(header("'<f4'", "False", "(1,)"), "abcdefgh"),
         "bytes after the data");
  expect(npy(header("'<f4'", "False", "(99999999999999999999,)"), "abcd"),
         "too large");
  expect(npy(header("'<f4'", "False", "(4294967296, 4294967296)"), "abcd"),
         "the shape is too large");
  expect(npy(header("'<f4'", "False", "(-1,)"), "abcd"), "expected a shape");
  expect(npy(header("'<f4'", "Maybe", "(1,)"), "abcd"), "True or False");
  expect(npy("{'descr': '<f4'}\n", "abcd"), "is missing");
  expect(npy("{'descr': '<f4', 'x': 1}\n", "abcd"), "unknown key 'x'");
  expect(npy("{'descr': '<f4", ""), "");
  std::string cut = npy(header("'<f4'", "False", "(1,)"), "abcd");
  expect(cut.substr(0, 20), "does not fit the file");
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
    tensors.push_back({std::string("t.") + dtypeName(allDTypes[i]),
                       allDTypes[i], {2, 3}, data[i].data()});
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

std::string entry(const std::string &name, const std::string &dtype,
                  const std::string &shape, const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, malformedFilesAreOneClearMessage) {
  TempDir dir;
  auto expect = [&](const std::string &text, const char *message) {
    writeText(dir / "bad.safetensors", text);
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
  expect(safetensors(good, "1234"),
         "tensor 'a': bytes 0 to 8 lie beyond the end of the data at 4");
  expect(safetensors(good, "123456789"), "1 bytes after the last tensor");
  expect(safetensors("{" + entry("a", "F31", "[2]", "[0,8]") + "}", "12345678"),
         "unknown dtype 'F31'");
  expect(safetensors("{" + entry("a", "F32", "[3]", "[0,8]") + "}", "12345678"),
         "bytes 0 to 8, expected 12 bytes for F32 3");
  expect(safetensors("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", "12345678"),
         "not a size");
  expect(safetensors("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}",
                     "12345678"),
         "not a size");
  expect(safetensors("{" + entry("a", "F32",
                                 "[4294967296,4294967296,4294967296]",
                                 "[0,8]") + "}", "12345678"),
         "the shape is too large");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[8,0]") + "}", "12345678"),
         "data_offsets is not [begin, end]");
  expect(safetensors("{" + entry("a", "F4", "[3]", "[0,1]") + "}", "1"),
         "do not fill whole bytes");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[0,8]") + "," +
                         entry("b", "F32", "[2]", "[4,12]") + "}",
                     "123456789012"),
         "tensor 'b': starts at byte 4 and overlaps another, expected 8");
  expect(safetensors("{" + entry("a", "F32", "[2]", "[0,8]") + "," +
                         entry("b", "F32", "[1]", "[12,16]") + "}",
                     "1234567890123456"),
         "tensor 'b': starts at byte 12 after a hole, expected 8");
  expect(safetensors("{" + entry("a", "F32", "[1]", "[0,4]") + "," +
                         entry("a", "F32", "[1]", "[0,4]") + "}",
                     "1234"),
         "tensor 'a' appears twice");
  expect(safetensors("{\"a\":3}", ""), "expected dtype, shape and data_offsets");
  expect(safetensors("{\"__metadata__\":{\"a\":3}}", ""),
         "__metadata__ 'a' is not a string");
  EXPECT_ERROR(openSafetensors(dir / "none.safetensors").status(),
               "none.safetensors: cannot be opened");
}

TEST(Safetensors, otherTypesAreListedButNotLoadable) {
  TempDir dir;
  writeText(dir / "a.safetensors",
            safetensors("{\"__metadata__\":{\"format\":\"pt\"}," +
                            entry("q", "F8_E4M3", "[4]", "[0,4]") + "," +
                            entry("u", "U32", "[1]", "[4,8]") + "}   ",
                        "12345678"));
  auto read = openSafetensors(dir / "a.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE((*read)["q"].dtype);
  EXPECT_EQ((*read)["u"].dtype, DType::I32);
}

TEST(Weights, directoriesAndIndices) {
  TempDir dir;
  float one = 1, two = 2;
  EXPECT_ERROR(openWeights(dir.path()).status(), "holds no *.safetensors");
  EXPECT_ERROR(openWeights(dir / "gone").status(), "cannot be opened");
  ASSERT_TRUE(writeSafetensors(dir / "a.safetensors",
                               {{"a", DType::F32, {1}, &one}}).ok());
  ASSERT_TRUE(writeSafetensors(dir / "b.safetensors",
                               {{"b", DType::F32, {1}, &two}}).ok());
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
  EXPECT_ERROR(openWeights(index).status(), "with weight_map");
  std::filesystem::remove(index);
  std::filesystem::copy(dir / "a.safetensors", dir / "c.safetensors");
  EXPECT_ERROR(openWeights(dir.path()).status(), "appears in another file");
}

} // namespace
