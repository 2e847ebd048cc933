//===- TablePool.h - Interned tables of prices ------------------*- C++ -*-===//
//
// Tables as numbers: equal numbers are equal tables, so that whatever is computed of
// tables is computed once for all repeated layers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_SOLVER_TABLEPOOL_H
#define SHARDKIT_LIB_SOLVER_TABLEPOOL_H

#include "Support/Numbers.h"
#include "Support/SequenceMap.h"
#include "shardkit/Solver/CostGraph.h"

namespace mlir::spmd::solver {

/// Times at or above it are impossible. Sums of tables are clamped to it.
constexpr int64_t kInf = Price::kImpossible;

using TableId = unsigned;
constexpr TableId kNoTable = ~0u;

/// Times, and the bytes that break ties: none where all of them are 0. An impossible
/// entry has time kInf and no bytes.
struct Table {
  Numbers time, bytes;
  size_t size() const { return time.size(); }
  Price get(size_t i) const {
    return time[i] >= kInf ? Price::impossible() : Price{time[i], bytes.empty() ? 0 : bytes[i]};
  }
};

/// Bytes of a buffer times a multiplier, as a term of a price.
struct Weight {
  TableId bytes;
  int64_t factor;
};

class TablePool {
public:
  TableId intern(Table table) { return intern(std::move(table), /*isLasting=*/true); }
  /// One that `release` may take back, unless an equal one was interned to last.
  TableId internPassing(Table table) { return intern(std::move(table), /*isLasting=*/false); }
  /// Gives back what it occupies: its number means nothing from now on, and an equal one gets another.
  void release(TableId id);
  const Table &get(TableId id) const { return tables[id]; }

  /// Rows become columns.
  TableId transpose(TableId id, unsigned rows, unsigned columns);
  /// Entry (i, j) is entry (rows[i], columns[j]); lists are interned by addList, and
  /// kNoTable stands for all in order. A vector is a table of one column.
  TableId gather(TableId id, unsigned numColumns, unsigned rows, unsigned columns, unsigned newRows,
                 unsigned newColumns);
  /// Entry (i, j) is entry (i, list[i]): what is left of a pair that follows its row.
  TableId gatherDiagonal(TableId id, unsigned numColumns, unsigned list);
  TableId add(TableId a, TableId b);
  /// scale * the table + the weighted bytes, impossible where the table is; bytes that
  /// break ties only `withBytes`. The table may be kNoTable (zeros).
  TableId weigh(TableId id, int64_t scale, llvm::ArrayRef<Weight> weights, bool withBytes);

  /// time * factor + bytes, as times; with factor 0 the times alone.
  TableId flatten(TableId id, int64_t factor);

  unsigned addList(llvm::ArrayRef<unsigned> list) { return lists.insert(list).first; }
  llvm::ArrayRef<unsigned> getList(unsigned id) const { return lists.get(id); }

  /// Bytes that tables occupy.
  size_t getMemory() const { return memory; }
  unsigned size() const { return tables.size(); }

private:
  TableId intern(Table table, bool isLasting);
  template <typename Compute> TableId once(llvm::ArrayRef<unsigned> key, Compute compute);

  std::vector<Table> tables;
  std::vector<unsigned> next;
  std::vector<bool> lasting;
  llvm::DenseMap<uint64_t, unsigned> heads;
  SequenceMap lists;
  SequenceMap derived; // ops on tables
  std::vector<TableId> results;
  size_t memory = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_TABLEPOOL_H
