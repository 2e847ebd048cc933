//===- Unfolding.cpp - Values that are computed in the same way -----------===//
//
// The same value may be computed by ops that are divided in another way:
//
//   unsharded     a[i] = x[i] + y[i], b[i] = max(a[i], 0)
//   partitioned   b[i] = max(x[i] + y[i], 0)
//
// An element of b, read through to what no op computes element by element, is one term in
// both. Values are unfolded only if a value of the partitioned program has no counterpart.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Proof/GlobalProgram.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Terms that are written for one value, and for all values of a program.
static constexpr int64_t kMaxTerms = 1 << 11, kMaxAllTerms = 1 << 19;
/// Equal values that are named.
static constexpr size_t kMaxEqual = 4;

std::optional<TermId> GlobalProgram::unfold(ClassId id) {
  if (auto it = unfolding.values.find(id); it != unfolding.values.end())
    return it->second;
  std::optional<TermId> &result = unfolding.values[id];
  if (!classes[id].type || unfolding.total > kMaxAllTerms)
    return result;
  SumList dims;
  for (auto [d, size] : llvm::enumerate(classes[id].type.getShape()))
    dims.push_back(size == 1 ? SmallVector<int64_t, 6>{0, 0} : SmallVector<int64_t, 6>{0, 1, int64_t(d), 1});
  unfolding.left = kMaxTerms;
  unfolding.isOn = true;
  TermId element = getElement(id, dims);
  unfolding.isOn = false;
  unfolding.total += kMaxTerms - std::max<int64_t>(unfolding.left, 0);
  if (unfolding.left >= 0)
    result = element;
  return result;
}

ArrayRef<ClassId> GlobalProgram::findEqual(ClassId id) {
  std::optional<TermId> term = unfold(id);
  if (!term)
    return {};
  for (; unfolding.numRead < std::min(numProgramClasses, classes.size()); ++unfolding.numRead)
    if (std::optional<TermId> other = unfold(unfolding.numRead)) {
      SmallVector<ClassId, 1> &equal = unfolding.classes[{classes[unfolding.numRead].type, *other}];
      if (equal.size() < kMaxEqual)
        equal.push_back(unfolding.numRead);
    }
  auto it = unfolding.classes.find({classes[id].type, *term});
  return it == unfolding.classes.end() ? ArrayRef<ClassId>() : ArrayRef<ClassId>(it->second);
}

bool GlobalProgram::areEqual(ClassId a, ClassId b) {
  if (a == b)
    return true;
  if (classes[a].type != classes[b].type || classes[a].varying != classes[b].varying)
    return false;
  std::optional<TermId> term = unfold(a), other = unfold(b);
  return term && term == other;
}
