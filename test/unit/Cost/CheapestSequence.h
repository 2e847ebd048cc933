//===- CheapestSequence.h - Plans by enumeration ----------------*- C++ -*-===//
//
// The oracle of plans of partial values: all sequences of up to three
// collectives (and any slices) between given layouts.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_UNIT_COST_CHEAPESTSEQUENCE_H
#define SHARDKIT_TEST_UNIT_COST_CHEAPESTSEQUENCE_H

#include "Simulator.h"
#include "shardkit/Cost/CostModel.h"

namespace shardkit_test {

/// The layouts of a rank-2 value that use whole axes, in every order: 11 on a
/// mesh of two axes.
std::vector<Layout> wholeAxisLayouts(const Mesh &mesh, const Shape &shape);

class CheapestSequence {
public:
  /// `places` are complete layouts; with `axis` each that leaves the axis alone
  /// is there partial over it as well.
  CheapestSequence(const Mesh &mesh, unsigned axis, const std::vector<Layout> &places, int64_t elementBytes);

  /// The layouts that are partial over the axis.
  const std::vector<Layout> &getPartial() const { return partial; }
  /// Seconds of the cheapest sequence of up to three collectives.
  double getSeconds(const Layout &from, const Layout &to) const;

private:
  size_t find(const Layout &layout) const;

  std::vector<Layout> partial, nodes;
  std::vector<std::vector<double>> price; // infinity: no collective does it
};

} // namespace shardkit_test

#endif // SHARDKIT_TEST_UNIT_COST_CHEAPESTSEQUENCE_H
