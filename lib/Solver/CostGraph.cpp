//===- CostGraph.cpp - Choices and what they cost -------------------------===//

#include "shardkit/Solver/CostGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cassert>

using namespace mlir::spmd;
using llvm::ArrayRef;

CostGraph::Var CostGraph::addVariable(unsigned count) {
  assert(count > 0 && "a variable without choices");
  numChoices.push_back(count);
  return numChoices.size() - 1;
}

template <typename T>
unsigned CostGraph::intern(std::vector<std::vector<T>> &all, std::vector<unsigned> &next,
                           llvm::DenseMap<uint64_t, unsigned> &heads, std::vector<T> table) {
  // The two largest values are keys that DenseMap keeps for itself.
  uint64_t hash =
      llvm::xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(table.data()), table.size() * sizeof(T))) >>
      1;
  auto [it, inserted] = heads.try_emplace(hash, all.size());
  if (!inserted) {
    for (unsigned id = it->second; id != ~0u; id = next[id])
      if (all[id] == table)
        return id;
  }
  next.push_back(inserted ? ~0u : it->second);
  it->second = all.size();
  all.push_back(std::move(table));
  return all.size() - 1;
}

CostGraph::TableId CostGraph::addTable(std::vector<Price> prices) {
  // A unique form of impossible prices, so that equal tables are equal bit for bit.
  for (Price &p : prices)
    if (p.isImpossible())
      p = Price::impossible();
  return intern(tables, nextTable, tableHeads, std::move(prices));
}

CostGraph::BytesId CostGraph::addBytes(std::vector<int64_t> bytes) {
  return intern(byteTables, nextBytes, byteHeads, std::move(bytes));
}

void CostGraph::addCost(Var v, TableId table) {
  assert(tables[table].size() == numChoices[v] && "one price per choice");
  costs.push_back({v, kNoVar, table});
}

void CostGraph::addCost(Var a, Var b, TableId table) {
  assert(a != b && tables[table].size() == size_t(numChoices[a]) * numChoices[b] && "one price per pair of choices");
  costs.push_back({a, b, table});
}

void CostGraph::addSharing(Var host, std::vector<Reader> readers, TableId table) {
  assert(buffers.empty() && "what is shared has no buffers");
  assert(tables[table].size() % numChoices[host] == 0 && "prices of the items per choice of the host");
  assert(llvm::all_of(readers,
                      [&](const Reader &reader) {
                        return reader.var != host && reader.items.size() == numChoices[reader.var];
                      }) &&
         "one item per choice of a reader");
  sharings.push_back({host, std::move(readers), table});
}

void CostGraph::addBuffer(int64_t begin, int64_t end, Var v, BytesId bytes) {
  assert(byteTables[bytes].size() == numChoices[v] && "one size per choice");
  if (begin < end)
    buffers.push_back({begin, end, v, kNoVar, bytes, 0});
}

void CostGraph::addBuffer(int64_t begin, int64_t end, Var a, Var b, BytesId bytes) {
  assert(a != b && byteTables[bytes].size() == size_t(numChoices[a]) * numChoices[b] && "one size per pair of choices");
  if (begin < end)
    buffers.push_back({begin, end, a, b, bytes, 0});
}

void CostGraph::addFixedBuffer(int64_t begin, int64_t end, int64_t bytes) {
  if (begin < end && bytes != 0)
    buffers.push_back({begin, end, kNoVar, kNoVar, 0, bytes});
}

Price CostGraph::getPrice(ArrayRef<unsigned> choices) const {
  Price sum;
  for (const Cost &cost : costs) {
    size_t index = choices[cost.a];
    if (cost.b != kNoVar)
      index = index * numChoices[cost.b] + choices[cost.b];
    sum = sum + tables[cost.table][index];
  }
  llvm::SmallVector<unsigned, 8> asked;
  for (const Sharing &sharing : sharings) {
    size_t numItems = tables[sharing.prices].size() / numChoices[sharing.host];
    asked.clear();
    for (const Reader &reader : sharing.readers)
      asked.push_back(reader.items[choices[reader.var]]);
    llvm::sort(asked);
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    for (unsigned item : asked)
      sum = sum + tables[sharing.prices][choices[sharing.host] * numItems + item];
  }
  return sum;
}

int64_t CostGraph::getBytes(const Buffer &buffer, ArrayRef<unsigned> choices) const {
  if (buffer.a == kNoVar)
    return buffer.fixed;
  size_t index = choices[buffer.a];
  if (buffer.b != kNoVar)
    index = index * numChoices[buffer.b] + choices[buffer.b];
  return byteTables[buffer.table][index];
}

int64_t CostGraph::getPeak(ArrayRef<unsigned> choices, int64_t *where) const {
  std::vector<std::pair<int64_t, int64_t>> changes;
  changes.reserve(2 * buffers.size());
  for (const Buffer &buffer : buffers) {
    int64_t bytes = getBytes(buffer, choices);
    changes.push_back({buffer.begin, bytes});
    changes.push_back({buffer.end, -bytes});
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, peak = 0, at = 0;
  for (size_t i = 0; i < changes.size();) {
    int64_t point = changes[i].first;
    for (; i < changes.size() && changes[i].first == point; ++i)
      live += changes[i].second;
    if (live > peak) {
      peak = live;
      at = point;
    }
  }
  if (where)
    *where = at;
  return peak;
}
