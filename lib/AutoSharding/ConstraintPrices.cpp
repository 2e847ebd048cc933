//===- ConstraintPrices.cpp - What user shardings cost --------------------===//

#include "shardkit/AutoSharding/ConstraintPrices.h"
#include "AnnotationText.h"
#include "shardkit/Support/Remarks.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::spmd;

/// A constraint is named if the plan without it takes less than this fraction of the time.
static constexpr double kMaxFraction = 0.9;
/// Limit of the searches, one per constraint; those of the largest values come first.
static constexpr size_t kMaxSearches = 32;

static int64_t getElements(RankedTensorType type) { return type.hasStaticShape() ? type.getNumElements() : 0; }

void spmd::remarkConstraintPrices(FunctionSearch &search, const SearchResult &result) {
  func::FuncOp func = search.getFuncs().front();
  if (!areRemarksEnabled(func) || result.objective <= 0)
    return;
  Propagation &propagation = search.getFunction().getPropagation();
  llvm::MapVector<unsigned, const FunctionPropagation::Annotation *> constraints;
  for (const FunctionPropagation::Annotation &annotation : search.getFunction().getAnnotations())
    constraints.try_emplace(annotation.valueClass, &annotation);
  auto sorted = constraints.takeVector();
  llvm::stable_sort(sorted, [&](const auto &a, const auto &b) {
    return getElements(propagation.getClass(a.first).type) > getElements(propagation.getClass(b.first).type);
  });
  if (sorted.size() > kMaxSearches)
    sorted.resize(kMaxSearches);
  for (auto [valueClass, annotation] : sorted) {
    llvm::BitVector released(propagation.getNumClasses());
    released.set(valueClass);
    auto without = FunctionSearch::create(search.getMeshes(), search.getFunction(), search.getOptions(), released,
                                          /*requirements=*/false);
    if (failed(without))
      return;
    (*without)->setRequirements(std::vector<OptionRequirement>(search.getRequirements()));
    SearchResult other = (*without)->run();
    if (other.choices.empty() || other.objective >= result.objective * kMaxFraction)
      continue;
    DescribedAnnotation described = describeAnnotation(search, *annotation);
    auto seconds = [](double time) { return llvm::formatv("{0:E3}", time).str(); };
    std::string instead = search.getMeshes().toString(
        propagation.getTable().get((*without)->getProblem().getLayout(valueClass, other.choices)));
    remark::missed(described.location,
                   remark::RemarkOpts::name("costly-constraint").category("spmd").function(func.getName()))
        << remark::add("the sharding of {0}, {1}, costs {2} s: collectives take {3} s, and {4} s without it, where the "
                       "search chooses {5}",
                       described.text, search.getMeshes().toString(annotation->sharding),
                       seconds(result.objective - other.objective), seconds(result.objective), seconds(other.objective),
                       instead);
  }
}
