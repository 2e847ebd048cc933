//===- Contraction.cpp - Strided contractions -----------------------------===//

#include "shardkit/rt/Contraction/Contraction.h"

#include "ContractionDims.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

namespace {

/// Joins dims of one role where the outer stride is contiguous in all operands.
void join(ContractionDims &dims) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < dims.size() && !changed; ++i)
      for (size_t j = 0; j < dims.size() && !changed; ++j) {
        const ContractionDim &outer = dims[i], &inner = dims[j];
        bool isOne = i != j && outer.a == inner.size * inner.a && outer.b == inner.size * inner.b &&
                     outer.c == inner.size * inner.c;
        for (size_t k = 0; k < SK_MAX_ADDED; ++k)
          isOne = isOne && outer.added[k] == inner.size * inner.added[k];
        if (!isOne)
          continue;
        dims[j].size *= outer.size;
        dims.erase(dims.begin() + long(i));
        changed = true;
      }
  }
}

} // namespace

Expected<Contraction> normalize(const sk_contraction_desc &desc, const int64_t (*added)[SK_MAX_CONTRACTION_DIMS]) {
  if (desc.abi != SK_ABI_VERSION)
    return invalid("contraction of ABI version " + std::to_string(desc.abi) + ", expected " +
                   std::to_string(SK_ABI_VERSION));
  if (desc.in_dtype < 0 || desc.in_dtype >= kNumDTypes || desc.out_dtype < 0 || desc.out_dtype >= kNumDTypes ||
      desc.num_dims < 0 || desc.num_dims > SK_MAX_CONTRACTION_DIMS)
    return invalid("malformed contraction");
  Contraction result;
  result.in = DType(desc.in_dtype);
  result.out = DType(desc.out_dtype);
  result.accumulate = desc.accumulate != 0;
  if (isFloat(result.in) != isFloat(result.out))
    return invalid(std::string("contraction of ") + dtypeName(result.in) + " into " + dtypeName(result.out) +
                   ", expected floats or integers throughout");
  // Then strides of dims outside of one of size 0 are 0.
  const bool isEmpty = std::any_of(desc.dims, desc.dims + desc.num_dims, [](const auto &dim) { return dim.size == 0; });
  for (int i = 0; i < desc.num_dims; ++i) {
    const auto &dim = desc.dims[i];
    if (dim.size < 0 || dim.stride_a < 0 || dim.stride_b < 0 || dim.stride_c < 0)
      return invalid("contraction with a negative size or stride");
    if (dim.size == 1)
      continue;
    ContractionDim d{dim.size, dim.stride_a, dim.stride_b, dim.stride_c};
    bool isAdded = false;
    for (size_t k = 0; added && k < SK_MAX_ADDED; ++k) {
      d.added[k] = added[k][i];
      isAdded |= d.added[k] != 0;
      if (d.added[k] < 0)
        return invalid("contraction with a negative stride");
    }
    bool good = false;
    switch (dim.role) {
    case SK_BATCH:
      // A batch dim that one operand lacks is an ordinary m or n.
      good = d.c != 0 || isEmpty;
      (d.a == 0 && d.b != 0 ? result.n : d.b == 0 && d.a != 0 ? result.m : result.batch).push_back(d);
      break;
    case SK_M:
      good = d.b == 0 && (d.c != 0 || isEmpty);
      result.m.push_back(d);
      break;
    case SK_N:
      good = d.a == 0 && (d.c != 0 || isEmpty);
      result.n.push_back(d);
      break;
    case SK_K:
      good = d.c == 0 && !isAdded;
      result.k.push_back(d);
      break;
    }
    if (!good)
      return invalid("contraction dim " + std::to_string(i) + " has strides that its role does not have");
  }
  join(result.batch);
  join(result.m);
  join(result.n);
  join(result.k);
  return result;
}

namespace {

/// An empty sum is zero; an empty output is nothing.
class ZeroPlan : public ContractionPlan {
public:
  explicit ZeroPlan(const Contraction &contraction) : size_(dtypeSize(contraction.out)) {
    if (contraction.accumulate || product(contraction.batch) == 0 || product(contraction.m) == 0 ||
        product(contraction.n) == 0) {
      dims_.push_back({0, 0, 0, 0});
      return;
    }
    for (const ContractionDims *dims : {&contraction.batch, &contraction.m, &contraction.n})
      dims_.insert(dims_.end(), dims->begin(), dims->end());
  }
  Status run(const void *, const void *, void *c) override {
    forEachIndex(dims_, [&](int64_t, int64_t, int64_t offset, bool) {
      std::memset(static_cast<char *>(c) + offset * size_, 0, size_t(size_));
    });
    return {};
  }
  const char *strategy() const override { return "zero"; }

private:
  int64_t size_;
  ContractionDims dims_;
};

/// One library product, in a loop over the dims that it has no place for.
class LibraryPlan : public ContractionPlan {
public:
  LibraryPlan(std::unique_ptr<LibraryProduct> first, std::unique_ptr<LibraryProduct> rest, ContractionDims loops,
              bool swapped, int64_t inSize, int64_t outSize)
      : first_(std::move(first)), rest_(std::move(rest)), loops_(std::move(loops)), swapped_(swapped), inSize_(inSize),
        outSize_(outSize) {}

  Status run(const void *a, const void *b, void *c) override {
    if (loops_.empty())
      return swapped_ ? first_->run(b, a, c) : first_->run(a, b, c);
    Status status;
    forEachIndex(loops_, [&](int64_t oa, int64_t ob, int64_t oc, bool first) {
      if (!status.ok())
        return;
      const void *pa = static_cast<const char *>(a) + oa * inSize_;
      const void *pb = static_cast<const char *>(b) + ob * inSize_;
      LibraryProduct &product = first || !rest_ ? *first_ : *rest_;
      status = product.run(swapped_ ? pb : pa, swapped_ ? pa : pb, static_cast<char *>(c) + oc * outSize_);
    });
    return status;
  }
  const char *strategy() const override { return loops_.empty() ? "onednn" : "onednn-loop"; }

private:
  std::unique_ptr<LibraryProduct> first_, rest_;
  ContractionDims loops_;
  bool swapped_;
  int64_t inSize_, outSize_;
};

/// A unit stride in one of the two dims and rows that do not overlap.
bool expressible(int64_t rows, int64_t columns, MatrixOperand &operand) {
  if (rows == 1)
    operand.row = operand.column == 1 ? columns : 1;
  if (columns == 1)
    operand.column = operand.row == 1 && rows > 1 ? rows : 1;
  return (operand.column == 1 && operand.row >= columns) || (operand.row == 1 && operand.column >= rows);
}

} // namespace

MatrixChoice chooseMatrix(const Contraction &contraction, size_t maxBatch) {
  auto at = [](const ContractionDims &dims, size_t i) {
    return i < dims.size() ? dims[i] : ContractionDim{1, 0, 0, 0};
  };
  auto without = [](ContractionDims dims, size_t i) {
    if (i < dims.size())
      dims.erase(dims.begin() + long(i));
    return dims;
  };
  MatrixChoice best;
  for (size_t im = 0; im < std::max<size_t>(1, contraction.m.size()); ++im)
    for (size_t in = 0; in < std::max<size_t>(1, contraction.n.size()); ++in)
      for (size_t ik = 0; ik < std::max<size_t>(1, contraction.k.size()); ++ik)
        for (bool swapped : {false, true}) {
          ContractionDim m = at(contraction.m, im), n = at(contraction.n, in), k = at(contraction.k, ik);
          MatrixChoice choice;
          choice.swapped = swapped;
          MatrixProduct &p = choice.product;
          p = {contraction.in,
               contraction.out,
               contraction.accumulate,
               m.size,
               n.size,
               k.size,
               {m.a, k.a},
               {k.b, n.b},
               {m.c, n.c},
               {},
               {}};
          for (size_t i = 0; i < SK_MAX_ADDED; ++i)
            p.added[i] = {(swapped ? n : m).added[i], (swapped ? m : n).added[i]};
          if (swapped) {
            std::swap(p.m, p.n);
            p.a = {n.b, k.b};
            p.b = {k.a, m.a};
            p.c = {n.c, m.c};
          }
          if (!expressible(p.m, p.k, p.a) || !expressible(p.k, p.n, p.b) || !expressible(p.m, p.n, p.c) ||
              p.c.column != 1)
            continue;
          // Prefer large matrices, then the direction that the caller wrote.
          choice.score = double(m.size) * double(n.size) * double(k.size) - (swapped ? 0.5 : 0);
          if (choice.score <= best.score)
            continue;
          for (const ContractionDims &rest :
               {without(contraction.m, im), without(contraction.n, in), without(contraction.k, ik)})
            choice.loops.insert(choice.loops.end(), rest.begin(), rest.end());
          best = std::move(choice);
        }
  if (best.score < 0)
    return best;
  ContractionDims batch = contraction.batch;
  std::sort(batch.begin(), batch.end(), [](const ContractionDim &x, const ContractionDim &y) { return x.c > y.c; });
  while (batch.size() > maxBatch) {
    best.loops.insert(best.loops.begin(), batch.front());
    batch.erase(batch.begin());
  }
  for (ContractionDim &dim : batch) {
    if (dim.a == 0 || dim.b == 0) { // Neither operand: packing reads it once.
      best.score = -1;
      return best;
    }
    if (best.swapped)
      std::swap(dim.a, dim.b);
  }
  best.product.batch = batch;
  return best;
}

Expected<std::unique_ptr<ContractionPlan>> planContraction(const sk_contraction_desc &desc) {
  SK_ASSIGN_OR_RETURN(Contraction contraction, normalize(desc));
  using Result = Expected<std::unique_ptr<ContractionPlan>>;
  if (contraction.work() == 0)
    return Result(std::make_unique<ZeroPlan>(contraction));
  if (std::unique_ptr<ContractionPlan> direct = planDirect(contraction))
    return Result(std::move(direct));
  if (!libraryTakes(contraction.in, contraction.out))
    return planPacked(contraction);
  MatrixChoice choice = chooseMatrix(contraction, 2);
  if (choice.score < 0)
    return planPacked(contraction);
  bool splitsSum = false;
  for (const ContractionDim &dim : choice.loops)
    splitsSum |= dim.c == 0;
  // Many small products cost more than copying; a sum split over several
  // products must not round between them.
  const MatrixProduct &p = choice.product;
  if (!choice.loops.empty() &&
      (product(p.batch) * p.m * p.n * p.k < 4096 || (splitsSum && contraction.out != DType::F32)))
    return planPacked(contraction);
  auto first = makeLibraryProduct(p);
  if (!first.ok())
    return planPacked(contraction);
  std::unique_ptr<LibraryProduct> rest;
  if (splitsSum && !p.accumulate) {
    MatrixProduct adding = p;
    adding.accumulate = true;
    auto second = makeLibraryProduct(adding);
    if (!second.ok())
      return planPacked(contraction);
    rest = std::move(*second);
  }
  auto plan = std::make_unique<LibraryPlan>(std::move(*first), std::move(rest), choice.loops, choice.swapped,
                                            dtypeSize(contraction.in), dtypeSize(contraction.out));
  if (contraction.in != DType::BF16)
    return Result(std::move(plan));
  return Result(keepSubnormals(std::move(plan), contraction));
}

Status ContractionCache::run(const sk_contraction_desc *desc, const void *a, const void *b, void *c) {
  auto found = entries_.find(desc);
  if (found == entries_.end() || std::memcmp(&found->second.desc, desc, sizeof *desc) != 0) {
    if (entries_.size() >= maxPlans)
      entries_.clear();
    SK_ASSIGN_OR_RETURN(std::unique_ptr<ContractionPlan> plan, planContraction(*desc));
    Entry &entry = entries_[desc];
    std::memcpy(&entry.desc, desc, sizeof *desc);
    entry.plan = std::move(plan);
    return entry.plan->run(a, b, c);
  }
  return found->second.plan->run(a, b, c);
}

Status ContractionCache::runSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c) {
  std::string key(reinterpret_cast<const char *>(&desc), sizeof desc);
  auto found = sized_.find(key);
  if (found == sized_.end()) {
    if (sized_.size() >= maxPlans)
      sized_.clear();
    SK_ASSIGN_OR_RETURN(std::unique_ptr<ContractionPlan> plan, planContraction(desc));
    found = sized_.emplace(std::move(key), std::move(plan)).first;
  }
  return found->second->run(a, b, c);
}

} // namespace shardkit::rt
