//===- GgufTest.cpp - The .gguf format, good and bad ----------------------===//

#include "Malformed.h"
#include "Support.h"

#include "shardkit/rt/Formats/Gguf.h"
#include "shardkit/rt/Formats/WeightSet.h"

#include <cstring>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

template <typename T> std::string number(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string text(const std::string &value) { return number<uint64_t>(value.size()) + value; }

/// `sizes`: the minor dim first.
std::string tensor(const std::string &name, const std::vector<uint64_t> &sizes, uint32_t type, uint64_t offset) {
  std::string bytes = text(name) + number<uint32_t>(uint32_t(sizes.size()));
  for (uint64_t size : sizes)
    bytes += number(size);
  return bytes + number(type) + number(offset);
}

std::string gguf(const std::vector<std::string> &values, const std::vector<std::string> &tensors,
                 const std::string &data, size_t alignment = 32) {
  std::string bytes = "GGUF" + number<uint32_t>(3) + number<uint64_t>(tensors.size()) + number<uint64_t>(values.size());
  for (const std::string &part : values)
    bytes += part;
  for (const std::string &part : tensors)
    bytes += part;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  return bytes + data;
}

constexpr uint32_t f32 = 0, q8 = 8, q4k = 12, u32 = 4, string = 8, list = 9;

TEST(Gguf, readsPlainTensorsAndBlocks) {
  TempDir dir;
  std::string data;
  for (int i = 0; i < 32 + 2 * 144; ++i)
    data += char(i);
  std::vector<std::string> values = {
      text("tokens") + number(list) + number(string) + number<uint64_t>(2) + text("a") + text("bc"),
      text("general.alignment") + number(u32) + number<uint32_t>(16),
      text("scores") + number(list) + number<uint32_t>(6) + number<uint64_t>(3) + std::string(12, '\0')};
  writeText(dir / "m.gguf", gguf(values, {tensor("b", {256, 2}, q4k, 32), tensor("a", {3, 2}, f32, 0)}, data, 16));
  auto set = openWeights(dir.path());
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->format, "gguf");
  ASSERT_EQ(set->tensors.size(), 2u);
  const StoredTensor &a = set->tensors.at("a"), &b = set->tensors.at("b");
  EXPECT_EQ(a.shape, Shape({2, 3}));
  EXPECT_EQ(a.dtype, DType::F32);
  EXPECT_EQ(b.shape, Shape({2, 144}));
  EXPECT_EQ(b.dtype, DType::U8);
  EXPECT_EQ(b.storedType, "Q4_K");
  char second[2];
  ASSERT_TRUE(b.readElements(144, 2, second).ok());
  EXPECT_EQ(second[0], char(32 + 144));
}

TEST(Gguf, malformedFilesAreOneError) {
  TempDir dir;
  auto expect = [&](const std::string &content, const char *message) {
    writeText(dir / "bad.gguf", content);
    keepMalformed(dir / "bad.gguf", message);
    auto read = openGguf(dir / "bad.gguf");
    EXPECT_ERROR(read.status(), message);
    EXPECT_EQ(read.status().message().find(dir / "bad.gguf"), 0u);
  };
  const std::string four(16, 'x'), one = tensor("a", {4}, f32, 0), good = gguf({}, {one}, four);
  expect("GGU", "not a .gguf file (3 bytes)");
  expect("GGUF" + number<uint32_t>(1) + std::string(16, '\0'), "version 1, expected 2 or 3");
  expect(good.substr(0, 20), "a count of 1 at byte 8 does not fit the file of 20 bytes");
  expect(good.substr(0, 40), "the header ends after 37 bytes, 8 more were expected");
  expect("GGUF" + number<uint32_t>(3) + std::string(16, '\xff'), "does not fit the file of 24 bytes");
  expect(gguf({text("k") + number<uint32_t>(77)}, {}, ""), "unknown type 77 of metadata");
  std::string nested = text("k") + number(list);
  for (int i = 0; i < 6; ++i)
    nested += number(list) + number<uint64_t>(1);
  expect(gguf({nested}, {}, four), "lists of metadata in each other, expected at most 4");
  expect(gguf({text("general.alignment") + number(u32) + number<uint32_t>(24)}, {}, ""), "not a power of two");
  expect(gguf({}, {tensor("a", {4}, 99, 0)}, four), "tensor 'a': unknown type 99");
  expect(gguf({}, {tensor("a", {1, 1, 1, 1, 1}, f32, 0)}, four), "tensor 'a': 5 dims, expected at most 4");
  expect(gguf({}, {tensor("a", {31}, q8, 0)}, four), "rows of 31 elements, expected blocks of 32 for Q8_0");
  expect(gguf({}, {tensor("a", {1ull << 40, 1ull << 40}, f32, 0)}, four), "the shape is too large");
  expect(gguf({}, {tensor("a", {4}, f32, 8)}, four), "offset 8, expected a multiple of 32");
  expect(gguf({}, {tensor("a", {5}, f32, 0)}, four), "bytes 0 and 20 more lie beyond the end of the data at 16");
  expect(gguf({}, {tensor("a", {4}, f32, 0), tensor("b", {2}, f32, 0)}, four), "overlap another tensor");
  expect(gguf({}, {one, one}, four), "tensor 'a' appears twice");
  EXPECT_ERROR(openGguf(dir / "none.gguf").status(), "none.gguf: cannot be opened");
}

} // namespace
