//===- CostGraph.h - Variables, choices and prices --------------*- C++ -*-===//
//
// The problem of automatic sharding without ops: variables with a finite number of choices,
// prices of choices and of pairs of choices, and buffers that are live over an interval of the
// program (docs/rationale/Search.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SOLVER_COSTGRAPH_H
#define SHARDKIT_SOLVER_COSTGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <compare>
#include <cstdint>
#include <vector>

namespace mlir::spmd {

/// The price of a choice: time, then bytes (at least 0), which break ties. Integers, so that
/// sums do not depend on their order. The caller chooses the unit of time. Over a problem, the
/// sum of the largest |time| of every table must be less than 2^57, and that of bytes as well.
struct Price {
  static constexpr int64_t kImpossible = int64_t(1) << 59;

  int64_t time = 0, bytes = 0;

  static constexpr Price impossible() { return {kImpossible, 0}; }
  constexpr bool isImpossible() const { return time >= kImpossible; }
  friend constexpr Price operator+(Price a, Price b) {
    if (a.isImpossible() || b.isImpossible())
      return impossible();
    return {a.time + b.time, a.bytes + b.bytes};
  }
  friend constexpr auto operator<=>(const Price &, const Price &) = default;
};

/// A cost graph.
///
///   graph.addVariable(2), graph.addVariable(3)    variables 0 and 1
///   addCost(0, {5, 0})                            choice 0 of variable 0 costs 5
///   addCost(0, 1, {0, 9, 9,  9, 0, 9})            equal choices are free
///   cheapest: choices {1, 1}, price 0
class CostGraph {
public:
  using Var = unsigned;
  using TableId = unsigned;
  using BytesId = unsigned;
  static constexpr Var kNoVar = ~0u;

  /// Adds a variable with at least one choice.
  Var addVariable(unsigned numChoices);
  unsigned getNumVariables() const { return numChoices.size(); }
  unsigned getNumChoices(Var v) const { return numChoices[v]; }

  /// Interns a table: equal tables have equal ids, and their derived tables are computed once. One- or two-dimensional,
  /// row-major.
  TableId addTable(std::vector<Price> prices);
  llvm::ArrayRef<Price> getTable(TableId id) const { return tables[id]; }
  /// The same for bytes, none of them negative.
  BytesId addBytes(std::vector<int64_t> bytes);
  llvm::ArrayRef<int64_t> getBytes(BytesId id) const { return byteTables[id]; }

  /// Adds one price per choice of `v`.
  void addCost(Var v, TableId table);
  /// Adds one price per pair of choices, row-major with rows `a`; a != b. Several costs of one
  /// variable or pair are added.
  void addCost(Var a, Var b, TableId table);

  /// A sharing: each reader of a host requests one item, depending on its choice. An item that
  /// several readers request is paid once. `prices`: prices of the items per choice of the host,
  /// host-major; times of at least 0. Readers differ from the host; one variable may be several
  /// readers. A graph with buffers has no sharings.
  struct Reader {
    Var var = kNoVar;
    std::vector<unsigned> items; // per choice
  };
  void addSharing(Var host, std::vector<Reader> readers, TableId prices);

  /// Adds a buffer that is live at the points [begin, end); points are any integers.
  void addBuffer(int64_t begin, int64_t end, Var v, BytesId bytes);
  void addBuffer(int64_t begin, int64_t end, Var a, Var b, BytesId bytes);
  void addFixedBuffer(int64_t begin, int64_t end, int64_t bytes);

  /// The price of one choice per variable, evaluated from the tables.
  Price getPrice(llvm::ArrayRef<unsigned> choices) const;
  /// The maximum of live bytes over all points; `where` is the first such point.
  int64_t getPeak(llvm::ArrayRef<unsigned> choices, int64_t *where = nullptr) const;

  /// `b` is kNoVar for a cost or buffer of one variable; `a` too for fixed buffers, which do not
  /// use `table`.
  struct Cost {
    Var a, b;
    TableId table;
  };
  struct Buffer {
    int64_t begin, end;
    Var a, b;
    BytesId table;
    int64_t fixed;
  };
  llvm::ArrayRef<Cost> getCosts() const { return costs; }
  llvm::ArrayRef<Buffer> getBuffers() const { return buffers; }
  struct Sharing {
    Var host;
    std::vector<Reader> readers;
    TableId prices;
  };
  llvm::ArrayRef<Sharing> getSharings() const { return sharings; }
  unsigned getNumTables() const { return tables.size(); }
  unsigned getNumByteTables() const { return byteTables.size(); }

  int64_t getBytes(const Buffer &buffer, llvm::ArrayRef<unsigned> choices) const;

private:
  template <typename T>
  static unsigned intern(std::vector<std::vector<T>> &all, std::vector<unsigned> &next,
                         llvm::DenseMap<uint64_t, unsigned> &heads, std::vector<T> table);

  std::vector<unsigned> numChoices;
  std::vector<Cost> costs;
  std::vector<Buffer> buffers;
  std::vector<Sharing> sharings;
  std::vector<std::vector<Price>> tables;
  std::vector<std::vector<int64_t>> byteTables;
  // Tables by hash of their content: the first one, and the next with the same hash.
  llvm::DenseMap<uint64_t, unsigned> tableHeads, byteHeads;
  std::vector<unsigned> nextTable, nextBytes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_SOLVER_COSTGRAPH_H
