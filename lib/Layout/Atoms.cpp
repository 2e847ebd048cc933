//===- Atoms.cpp ----------------------------------------------------------===//

#include "Atoms.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

using Boundaries = SmallVector<int64_t, 12>;

static bool insert(Boundaries &boundaries, int64_t value) {
  auto it = llvm::lower_bound(boundaries, value);
  if (it != boundaries.end() && *it == value)
    return false;
  boundaries.insert(it, value);
  return true;
}

static bool isChain(const Boundaries &boundaries) {
  for (unsigned i = 1; i < boundaries.size(); ++i)
    if (boundaries[i] % boundaries[i - 1] != 0)
      return false;
  return true;
}

/// Transfers the boundaries within each digit from the index to the ranks and back. False
/// if one does not divide.
static bool carryShards(ArrayRef<Digit> digits, Boundaries &index, Boundaries &rank, bool &changed) {
  for (const Digit &digit : digits) {
    for (unsigned i = 0; i < index.size(); ++i) {
      int64_t c = index[i];
      if (c <= digit.lo || c >= digit.hi)
        continue;
      if (c % digit.lo != 0 || digit.hi % c != 0)
        return false;
      changed |= insert(rank, digit.stride * (c / digit.lo));
    }
    int64_t end = digit.stride * digit.size();
    for (unsigned i = 0; i < rank.size(); ++i) {
      int64_t c = rank[i];
      if (c <= digit.stride || c >= end)
        continue;
      if (c % digit.stride != 0 || end % c != 0)
        return false;
      changed |= insert(index, digit.lo * (c / digit.stride));
    }
  }
  return true;
}

static void assign(ArrayRef<Digit> digits, const Atoms &atoms, Owners &owners) {
  owners.assign(atoms.numIndex(), -1);
  for (const Digit &digit : digits) {
    unsigned i = llvm::lower_bound(atoms.index, digit.lo) - atoms.index.begin();
    unsigned p = llvm::lower_bound(atoms.rank, digit.stride) - atoms.rank.begin();
    for (; atoms.index[i] < digit.hi; ++i, ++p)
      owners[i] = p;
  }
}

std::optional<Atoms> detail::align(const Layout &from, const Layout &to, bool atDims, const Mesh *mesh) {
  Atoms atoms;
  Boundaries &index = atoms.index, &rank = atoms.rank;
  index.push_back(1);
  rank.push_back(1);
  int64_t n = from.numElements();
  if (n > 0)
    insert(index, n);
  if (n > 0 && atDims) {
    int64_t b = 1;
    for (int64_t size : llvm::reverse(from.shape))
      insert(index, b *= size);
  }
  for (const Layout *layout : {&from, &to}) {
    for (const Digit &digit : layout->digits) {
      insert(index, digit.lo);
      insert(index, digit.hi);
      insert(rank, digit.stride);
      insert(rank, digit.stride * digit.size());
    }
    for (const RankDigit &digit : layout->partial) {
      insert(rank, digit.stride);
      insert(rank, digit.stride * digit.size);
    }
  }
  if (mesh) {
    int64_t stride = 1;
    for (const MeshAxis &axis : llvm::reverse(mesh->axes))
      insert(rank, stride *= axis.size);
  }
  for (bool changed = true; changed;) {
    changed = false;
    if (!carryShards(from.digits, index, rank, changed) || !carryShards(to.digits, index, rank, changed))
      return std::nullopt;
  }
  if (!isChain(index) || !isChain(rank))
    return std::nullopt;
  assign(from.digits, atoms, atoms.from);
  assign(to.digits, atoms, atoms.to);
  return atoms;
}

void Atoms::rankAtoms(ArrayRef<RankDigit> digits, SmallVectorImpl<bool> &covered) const {
  for (unsigned p = 0; p < numRank(); ++p)
    for (const RankDigit &digit : digits)
      if (rank[p] >= digit.stride && rank[p] < digit.stride * digit.size)
        covered[p] = true;
}

SmallVector<Digit, 4> Atoms::digits(const Owners &owners) const {
  SmallVector<Digit, 4> result;
  for (unsigned i = 0; i < numIndex(); ++i)
    if (owners[i] >= 0)
      result.push_back({index[i], index[i + 1], rank[owners[i]]});
  coalesce(result);
  return result;
}

int64_t detail::commonElements(const Atoms &atoms, const Owners &a, const Owners &b) {
  // Each owner is an equation: value of the index atom = value of the rank atom. The
  // pairs (index, rank) that satisfy all are free choices, one per component
  // of the graph of these equations.
  unsigned n = atoms.numIndex();
  SmallVector<unsigned, 32> parent(n + atoms.numRank());
  for (unsigned i = 0; i < parent.size(); ++i)
    parent[i] = i;
  auto find = [&](unsigned i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (unsigned i = 0; i < n; ++i) {
    if (a[i] >= 0)
      parent[find(i)] = find(n + a[i]);
    if (b[i] >= 0)
      parent[find(i)] = find(n + b[i]);
  }
  int64_t count = 1;
  for (unsigned i = 0; i < parent.size(); ++i)
    if (parent[i] == i)
      count *= i < n ? atoms.indexSize(i) : atoms.rankSize(i - n);
  return count;
}

//   overlap (stride, size)   | result
//   (1, 2), (2, 2)           | no
//   (1, 4), (2, 4)           | yes    share [2, 4)
//   (1, 2), (3, 2)           | yes    2 does not divide 3
//   (1, 2), (4, 2)           | no
bool detail::overlap(const RankDigit &a, const RankDigit &b) {
  if (a.size == 1 || b.size == 1)
    return false;
  const RankDigit &minor = a.stride <= b.stride ? a : b;
  const RankDigit &major = a.stride <= b.stride ? b : a;
  return major.stride % (minor.stride * minor.size) != 0;
}

std::optional<SmallVector<RankDigit, 2>> detail::subtract(ArrayRef<RankDigit> a, ArrayRef<RankDigit> b) {
  Boundaries boundaries;
  for (ArrayRef<RankDigit> digits : {a, b})
    for (const RankDigit &digit : digits) {
      insert(boundaries, digit.stride);
      insert(boundaries, digit.stride * digit.size);
    }
  if (!isChain(boundaries))
    return std::nullopt;
  auto covers = [](ArrayRef<RankDigit> digits, int64_t rank) {
    return llvm::any_of(
        digits, [rank](const RankDigit &digit) { return rank >= digit.stride && rank < digit.stride * digit.size; });
  };
  SmallVector<RankDigit, 2> result;
  for (unsigned i = 0; i + 1 < boundaries.size(); ++i)
    if (covers(a, boundaries[i]) && !covers(b, boundaries[i]))
      result.push_back({boundaries[i], boundaries[i + 1] / boundaries[i]});
  coalesce(result);
  return result;
}
