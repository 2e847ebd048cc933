//===- ShardInfo.cpp - TVM's shard_info.json ------------------------------===//

#include "shardkit/rt/Manifest/ShardInfo.h"

#include "Formats/StrictJson.h"
#include "ManifestReader.h"

#include "shardkit/rt/Formats/TensorCache.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

HostCall readHostCall(const Json &entry, const JsonAt &in) {
  HostCall call;
  if (!entry.is_array() || entry.size() < 2 || !entry[0].is_string() || !entry[1].is_array() || entry[1].size() != 2 ||
      !entry[1][0].is_array() || !entry[1][1].is_string())
    in.fail("a call is not [function, [shape, dtype], extra inputs...]");
  call.function = entry[0].get<std::string>();
  JsonAt at(entry, in.where() + ", function " + quoteName(call.function));
  if (call.function.empty())
    at.fail("the name is empty");
  call.shape = at.asIntegers(entry[1][0], "shape", -1);
  if (!numElements(call.shape))
    at.fail("the shape has a negative size or is too large");
  std::string dtype = entry[1][1].get<std::string>();
  std::optional<DType> type = parseDType(dtype);
  if (!type)
    type = parseTvmDType(dtype);
  if (!type)
    at.fail("unknown dtype " + quoteName(dtype));
  call.dtype = *type;
  for (size_t i = 2; i < entry.size(); ++i) {
    if (entry[i].is_number_integer())
      call.extras.emplace_back(at.asInteger(entry[i], "extra"));
    else if (entry[i].is_number_float())
      call.extras.emplace_back(entry[i].get<double>());
    else if (entry[i].is_string())
      call.extras.emplace_back(entry[i].get<std::string>());
    else
      at.fail("extra input " + std::to_string(i - 2) + " is neither a number nor a string");
  }
  return call;
}

Expected<ShardInfo> parseShardInfo(const std::string &text, const std::string &fileName) {
  auto parsed = parseStrictJson(text, "the shard info", "parameter");
  if (!parsed.ok())
    return parsed.status().withContext(fileName);
  ShardInfo info;
  try {
    for (auto &[name, chain] : parsed->items()) {
      JsonAt in(chain, "parameter " + quoteName(name));
      if (!chain.is_array())
        in.fail("expected a list of calls");
      std::vector<HostCall> &calls = info[name];
      for (const Json &entry : chain)
        calls.push_back(readHostCall(entry, in));
    }
  } catch (const ManifestError &error) {
    return invalid(fileName + ": " + error.message);
  }
  return info;
}

Expected<ShardInfo> readShardInfo(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::string text, readMetadata(path));
  return parseShardInfo(text, path);
}

/// "x_2" before "x_10".
static bool naturalLess(const std::string &a, const std::string &b) {
  size_t i = 0, j = 0;
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j])
        return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    size_t p = i, q = j;
    while (p < a.size() && digit(a[p]))
      ++p;
    while (q < b.size() && digit(b[q]))
      ++q;
    std::string x = a.substr(i, p - i), y = b.substr(j, q - j);
    x.erase(0, std::min(x.find_first_not_of('0'), x.size() - 1));
    y.erase(0, std::min(y.find_first_not_of('0'), y.size() - 1));
    if (x.size() != y.size())
      return x.size() < y.size();
    if (x != y)
      return x < y;
    i = p, j = q;
  }
  if (i < a.size() || j < b.size())
    return j < b.size();
  return a < b;
}

Expected<WeightManifest> manifestOf(const ShardInfo &info, const WeightSet &set, int64_t ranks,
                                    const std::vector<std::string> &parameters) {
  WeightManifest manifest;
  manifest.path = set.path;
  manifest.devices = ranks;
  if (ranks > 1)
    manifest.mesh = {"ranks", {{"rank", ranks}}, {}};
  for (int64_t r = 0; r < ranks; ++r)
    manifest.mesh.deviceIds.push_back(r);
  std::vector<std::string> names = parameters;
  if (names.empty()) {
    for (const auto &entry : set.tensors)
      names.push_back(entry.first);
    std::sort(names.begin(), names.end(), naturalLess);
  }
  for (const auto &[name, calls] : info)
    if (!set.tensors.count(name))
      return notFound("the shard info lists parameter " + quoteName(name) + ", which " + set.path + " does not hold");
  std::set<std::string> seen;
  for (const std::string &name : names) {
    auto fail = [&](const std::string &message) { return invalid("parameter " + quoteName(name) + ": " + message); };
    auto found = set.tensors.find(name);
    if (found == set.tensors.end())
      return notFound("parameter " + quoteName(name) + " is not in " + set.path);
    if (!seen.insert(name).second)
      return fail("named twice");
    const StoredTensor &stored = found->second;
    if (!stored.dtype)
      return fail("stored as " + stored.storedType + ", which cannot be loaded");
    ValueInfo value;
    value.name = name;
    value.kind = ValueKind::Weight;
    value.dtype = *stored.dtype;
    value.globalShape = value.localShape = stored.shape;
    value.globalElements = value.localElements = *numElements(stored.shape);
    value.extents = Extents::identity(value.globalElements);
    auto listed = info.find(name);
    if (listed != info.end() && !listed->second.empty()) {
      const HostCall &last = listed->second.back();
      if (last.shape.empty() || last.shape[0] != ranks)
        return fail("'" + last.function + "' gives " + shapeString(last.shape) + ", expected a leading dim of " +
                    std::to_string(ranks) + ", the number of shards");
      value.load.emplace();
      value.load->sources = {{name, value.dtype, stored.shape, value.globalElements}};
      value.load->chain = listed->second;
      // The full value is the stack of the slices, for any number of ranks.
      value.isSegmented = true;
      value.dtype = last.dtype;
      value.globalShape = last.shape;
      value.globalElements = *numElements(last.shape);
      value.localShape.assign(last.shape.begin() + 1, last.shape.end());
      value.localElements = *numElements(value.localShape);
      value.extents = {{{1, ranks, value.localElements}}, {{value.localElements, 1, 1}}, {}};
    }
    manifest.weights.push_back(std::move(value));
  }
  return manifest;
}

namespace {

/// Reads numbers one after the other; `bad` once there are too few, or a length is
/// none.
struct Extras {
  const std::vector<int64_t> &list;
  size_t at = 0;
  bool bad = false;

  int64_t next() {
    if (at < list.size())
      return list[at++];
    bad = true;
    return 0;
  }
  int64_t count() {
    int64_t n = next();
    bad |= n < 0 || n > int64_t(list.size());
    return bad ? 0 : n;
  }
  Extents extents(bool pieces) {
    Extents result;
    for (int64_t n = count(); n > 0 && !bad; --n) {
      int64_t a = next(), b = next(), c = next();
      result.offset.push_back({a, b, c});
    }
    for (int64_t n = count(); n > 0 && !bad; --n) {
      int64_t a = next(), b = next(), c = next();
      result.loops.push_back({a, b, c});
    }
    for (int64_t n = count(); n > 0 && !bad; --n) {
      int64_t a = next(), b = next();
      UnevenLoop loop{a, b, {}, pieces ? next() : 0};
      for (int64_t m = count(); m > 0 && !bad; --m) {
        int64_t s = next(), z = next();
        loop.ranks.push_back({s, z});
      }
      result.uneven.push_back(std::move(loop));
    }
    return result;
  }
};

void appendExtents(Json &entry, const Extents &extents, bool pieces) {
  entry.push_back(extents.offset.size());
  for (const OffsetDigit &d : extents.offset)
    for (int64_t v : {d.rankStride, d.size, d.globalStride})
      entry.push_back(v);
  entry.push_back(extents.loops.size());
  for (const ExtentLoop &l : extents.loops)
    for (int64_t v : {l.size, l.globalStride, l.localStride})
      entry.push_back(v);
  entry.push_back(extents.uneven.size());
  for (const UnevenLoop &u : extents.uneven) {
    entry.push_back(u.loop);
    entry.push_back(u.size);
    if (pieces)
      entry.push_back(u.begin);
    entry.push_back(u.ranks.size());
    for (const RankDigit &d : u.ranks) {
      entry.push_back(d.stride);
      entry.push_back(d.size);
    }
  }
}

} // namespace

Expected<ShardCall> parseShardCall(const std::vector<int64_t> &list) {
  Extras extras{list};
  ShardCall call;
  call.ranks = extras.next();
  call.extents = extras.extents(/*pieces=*/false);
  if (extras.bad || extras.at != list.size() || call.ranks < 1)
    return invalid("shardkit.shard: the extra inputs are not extents");
  return call;
}

Expected<PiecesCall> parsePiecesCall(const std::vector<int64_t> &list) {
  Extras extras{list};
  PiecesCall call;
  call.ranks = extras.next();
  for (int64_t n = extras.count(); n > 0 && !extras.bad; --n)
    call.shape.push_back(extras.next());
  for (int64_t n = extras.count(); n > 0 && !extras.bad; --n) {
    ExtentPiece piece;
    piece.globalBase = extras.next();
    piece.localBase = extras.next();
    piece.extents = extras.extents(/*pieces=*/true);
    call.pieces.push_back(std::move(piece));
  }
  if (extras.bad || extras.at != list.size() || call.ranks < 1 || !numElements(call.shape))
    return invalid("shardkit.pieces: the extra inputs are not pieces");
  return call;
}

Expected<std::string> shardInfoText(const WeightManifest &manifest) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const ValueInfo &value : manifest.weights) {
    auto fail = [&](const std::string &message) { return invalid("weight " + quoteName(value.name) + ": " + message); };
    Json calls = Json::array();
    std::string name = value.name;
    if (value.load && !value.load->chain.empty()) {
      name = value.load->sources[0].name;
      for (const HostCall &call : value.load->chain) {
        Json entry = {call.function, {call.shape, tvmDTypeName(call.dtype)}};
        for (const auto &extra : call.extras)
          std::visit([&](const auto &v) { entry.push_back(v); }, extra);
        calls.push_back(entry);
      }
      if (value.load->chain.back().shape[0] != manifest.devices)
        return fail("its function gives one slice per shard, TVM wants one per rank");
    } else if (value.load && value.load->function) {
      return fail("a compiled loading function cannot be exported");
    } else if (value.load && value.load->sources.size() != 1) {
      return fail("pieces of several stored tensors cannot be exported");
    } else {
      const Extents &extents = value.extents;
      if (!extents.order.empty())
        return fail("a mesh in another order of the devices cannot be exported");
      bool isReplicated = value.localElements == value.globalElements;
      if (isReplicated && extents.uneven.empty() && !value.load)
        continue; // Not listed: every rank gets it.
      Shape shape = value.localShape;
      shape.insert(shape.begin(), manifest.devices);
      Json entry = {
          value.load ? "shardkit.pieces" : "shardkit.shard", {shape, tvmDTypeName(value.dtype)}, manifest.devices};
      if (value.load) {
        name = value.load->sources[0].name;
        entry.push_back(value.globalShape.size());
        for (int64_t size : value.globalShape)
          entry.push_back(size);
        entry.push_back(value.load->pieces.size());
        for (const ExtentPiece &piece : value.load->pieces) {
          entry.push_back(piece.globalBase);
          entry.push_back(piece.localBase);
          appendExtents(entry, piece.extents, /*pieces=*/true);
        }
      } else {
        appendExtents(entry, extents, /*pieces=*/false);
      }
      calls.push_back(entry);
    }
    if (json.contains(name))
      return fail("two arguments read one stored tensor, which shard_info.json cannot express");
    json[name] = calls;
  }
  return json.dump(1) + "\n";
}

} // namespace shardkit::rt
