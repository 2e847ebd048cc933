//===- TablePool.cpp - Interned tables of prices --------------------------===//

#include "TablePool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

static uint64_t hashOf(ArrayRef<int64_t> values, uint64_t seed) {
  uint64_t h = llvm::xxh3_64bits(
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(int64_t)));
  return (h ^ seed) * 0x9e3779b97f4a7c15ull;
}

static uint64_t hashOf(const Table &table) {
  uint64_t hash = hashOf(table.time, 1);
  if (!table.bytes.empty())
    hash = hashOf(table.bytes, hash);
  return hash >> 1; // DenseMap keeps the two largest keys for itself
}

static size_t memoryOf(const Table &table) { return (table.time.size() + table.bytes.size()) * sizeof(int64_t); }

TableId TablePool::intern(Table table, bool isLasting) {
  if (llvm::all_of(table.bytes, [](int64_t b) { return b == 0; }))
    table.bytes.clear();
  uint64_t hash = hashOf(table);
  auto [it, inserted] = heads.try_emplace(hash, tables.size());
  if (!inserted) {
    for (unsigned id = it->second; id != ~0u; id = next[id])
      if (tables[id].time == table.time && tables[id].bytes == table.bytes) {
        lasting[id] = lasting[id] || isLasting;
        return id;
      }
  }
  next.push_back(inserted ? ~0u : it->second);
  it->second = tables.size();
  memory += memoryOf(table);
  lasting.push_back(isLasting);
  tables.push_back(std::move(table));
  return tables.size() - 1;
}

void TablePool::release(TableId id) {
  if (lasting[id])
    return;
  auto head = heads.find(hashOf(tables[id]));
  unsigned *link = &head->second;
  while (*link != id)
    link = &next[*link];
  *link = next[id];
  if (head->second == ~0u)
    heads.erase(head);
  memory -= memoryOf(tables[id]);
  tables[id] = Table();
}

template <typename Compute> TableId TablePool::once(ArrayRef<unsigned> key, Compute compute) {
  auto [index, inserted] = derived.insert(key);
  if (inserted) {
    TableId id = intern(compute());
    results.push_back(id);
  }
  return results[index];
}

TableId TablePool::transpose(TableId id, unsigned rows, unsigned columns) {
  return once({0, id, rows, columns}, [&] {
    const Table &from = tables[id];
    Table to;
    to.time.resize(from.size());
    to.bytes.resize(from.bytes.size());
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        to.time[j * rows + i] = from.time[i * columns + j];
        if (!from.bytes.empty())
          to.bytes[j * rows + i] = from.bytes[i * columns + j];
      }
    return to;
  });
}

TableId TablePool::gather(TableId id, unsigned numColumns, unsigned rows, unsigned columns, unsigned newRows,
                          unsigned newColumns) {
  if (rows == kNoTable && columns == kNoTable)
    return id;
  return once({1, id, numColumns, rows, columns}, [&] {
    const Table &from = tables[id];
    ArrayRef<unsigned> rowList, columnList;
    if (rows != kNoTable)
      rowList = getList(rows);
    if (columns != kNoTable)
      columnList = getList(columns);
    auto pick = [&](const Numbers &values) {
      Numbers picked;
      if (values.empty())
        return picked;
      picked.reserve(size_t(newRows) * newColumns);
      for (size_t i = 0; i < newRows; ++i) {
        const int64_t *row = values.data() + (rows == kNoTable ? i : rowList[i]) * numColumns;
        if (columns == kNoTable)
          picked.insert(picked.end(), row, row + numColumns);
        else
          for (unsigned column : columnList)
            picked.push_back(row[column]);
      }
      return picked;
    };
    return Table{pick(from.time), pick(from.bytes)};
  });
}

TableId TablePool::gatherDiagonal(TableId id, unsigned numColumns, unsigned list) {
  return once({2, id, numColumns, list}, [&] {
    const Table &from = tables[id];
    ArrayRef<unsigned> columns = getList(list);
    Table to;
    for (size_t i = 0; i < columns.size(); ++i) {
      to.time.push_back(from.time[i * numColumns + columns[i]]);
      if (!from.bytes.empty())
        to.bytes.push_back(from.bytes[i * numColumns + columns[i]]);
    }
    return to;
  });
}

TableId TablePool::add(TableId a, TableId b) {
  if (a > b)
    std::swap(a, b);
  return once({3, a, b}, [&] {
    const Table &x = tables[a], &y = tables[b];
    Table sum;
    sum.time.resize(x.size());
    sum.bytes.resize(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      Price price = x.get(i) + y.get(i);
      sum.time[i] = std::min(price.time, kInf);
      sum.bytes[i] = price.time < kInf ? price.bytes : 0;
    }
    return sum;
  });
}

TableId TablePool::weigh(TableId id, int64_t scale, ArrayRef<Weight> weights, bool withBytes) {
  llvm::SmallVector<unsigned, 16> key = {4, id, unsigned(scale), unsigned(scale >> 32), withBytes};
  for (const Weight &w : weights)
    key.append({w.bytes, unsigned(w.factor), unsigned(w.factor >> 32)});
  return once(key, [&] {
    Table sum;
    size_t size = id != kNoTable ? tables[id].size() : tables[weights.front().bytes].size();
    sum.time.assign(size, 0);
    auto addTimes = [&](int64_t time, int64_t factor, int64_t &to) {
      int64_t product;
      if (to >= kInf || time >= kInf || __builtin_mul_overflow(time, factor, &product) || product >= kInf - to)
        to = kInf;
      else
        to += product;
    };
    if (id != kNoTable) {
      const Table &table = tables[id];
      for (size_t i = 0; i < size; ++i)
        addTimes(table.time[i], scale, sum.time[i]);
      // Impossible at any scale, 0 too.
      for (size_t i = 0; i < size; ++i)
        if (table.time[i] >= kInf)
          sum.time[i] = kInf;
      if (withBytes)
        sum.bytes = table.bytes;
    }
    for (const Weight &w : weights) {
      const Table &bytes = tables[w.bytes];
      for (size_t i = 0; i < size; ++i)
        addTimes(bytes.time[i], w.factor, sum.time[i]);
    }
    for (size_t i = 0; i < sum.bytes.size(); ++i)
      if (sum.time[i] >= kInf)
        sum.bytes[i] = 0;
    return sum;
  });
}

TableId TablePool::flatten(TableId id, int64_t factor) {
  return once({5, id, unsigned(factor), unsigned(factor >> 32)}, [&] {
    Table flat;
    for (size_t i = 0; i < tables[id].size(); ++i) {
      Price price = tables[id].get(i);
      flat.time.push_back(price.isImpossible() ? kInf : factor ? price.time * factor + price.bytes : price.time);
    }
    return flat;
  });
}
