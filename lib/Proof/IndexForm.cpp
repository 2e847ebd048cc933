//===- IndexForm.cpp - An index in closed form ----------------------------===//

#include "shardkit/Proof/IndexForm.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::proof;

IndexForm IndexForm::ofRank(const RankDigit &digit) {
  IndexForm form;
  if (digit.size > 1)
    form.terms.push_back({IndexTerm::Kind::Rank, 0, digit.stride, digit.size, 1});
  return form;
}

std::optional<IndexForm> IndexForm::ofAxis(const Mesh &mesh, llvm::StringRef name) {
  int64_t stride = 1;
  for (const MeshAxis &axis : llvm::reverse(mesh.axes)) {
    if (axis.name == name)
      return ofRank({stride, axis.size});
    stride *= axis.size;
  }
  return std::nullopt;
}

IndexForm IndexForm::ofLoop(unsigned loop, int64_t size) {
  IndexForm form;
  if (size > 1)
    form.terms.push_back({IndexTerm::Kind::Loop, loop, 1, size, 1});
  return form;
}

IndexForm IndexForm::ofScalar(unsigned id) {
  IndexForm form;
  form.terms.push_back({IndexTerm::Kind::Scalar, id, 1, 0, 1});
  return form;
}

IndexForm IndexForm::ofData(unsigned term) {
  IndexForm form;
  form.terms.push_back({IndexTerm::Kind::Data, term, 1, kAnyData, 1});
  return form;
}

IndexForm IndexForm::ofTerm(const IndexTerm &term) {
  IndexForm form;
  form.terms.push_back(term);
  return form;
}

IndexForm IndexForm::ofTerms(int64_t constant, llvm::ArrayRef<IndexTerm> terms) {
  IndexForm form(constant);
  form.terms.assign(terms.begin(), terms.end());
  (void)form.canonicalize();
  return form;
}

static bool isSameVariable(const IndexTerm &a, const IndexTerm &b) { return a.kind == b.kind && a.var == b.var; }

/// Splits `term` at digit boundary `at`, which is inside of it: the part below replaces it, the one above is appended.
static bool split(llvm::SmallVectorImpl<IndexTerm> &terms, size_t i, int64_t at) {
  IndexTerm term = terms[i];
  if (at % term.lo || term.hi() % at)
    return false;
  terms[i].size = at / term.lo;
  terms.push_back({term.kind, term.var, at, term.hi() / at, term.coef * (at / term.lo)});
  return true;
}

bool IndexForm::canonicalize() {
  // Common boundaries of the digits of each variable.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < terms.size(); ++i)
      for (size_t k = 0; k < terms.size(); ++k) {
        if (terms[i].kind == IndexTerm::Kind::Scalar || !isSameVariable(terms[i], terms[k]))
          continue;
        for (int64_t at : {terms[k].lo, terms[k].hi()})
          if (terms[i].lo < at && at < terms[i].hi()) {
            if (!split(terms, i, at))
              return false;
            changed = true;
          }
      }
  }
  llvm::sort(terms, [](const IndexTerm &a, const IndexTerm &b) {
    return std::tuple(a.kind, a.var, a.lo) < std::tuple(b.kind, b.var, b.lo);
  });
  llvm::SmallVector<IndexTerm, 3> sum;
  for (const IndexTerm &term : terms) {
    if (!sum.empty() && isSameVariable(sum.back(), term) && sum.back().lo == term.lo)
      sum.back().coef += term.coef;
    else
      sum.push_back(term);
  }
  terms.clear();
  for (const IndexTerm &term : sum) {
    if (term.coef == 0 || term.size == 1)
      continue;
    if (!terms.empty() && term.kind != IndexTerm::Kind::Scalar && isSameVariable(terms.back(), term) &&
        terms.back().hi() == term.lo && term.coef == terms.back().coef * terms.back().size)
      terms.back().size *= term.size;
    else
      terms.push_back(term);
  }
  return true;
}

std::optional<IndexForm> IndexForm::plus(const IndexForm &other, int64_t factor) const {
  IndexForm sum = *this;
  sum.constant += other.constant * factor;
  for (IndexTerm term : other.terms) {
    term.coef *= factor;
    sum.terms.push_back(term);
  }
  if (!sum.canonicalize())
    return std::nullopt;
  return sum;
}

IndexForm IndexForm::times(int64_t factor) const {
  if (factor == 0)
    return 0;
  IndexForm product = *this;
  product.constant *= factor;
  for (IndexTerm &term : product.terms)
    term.coef *= factor;
  return product;
}

IndexForm IndexForm::plus(int64_t number) const {
  IndexForm sum = *this;
  sum.constant += number;
  return sum;
}

std::optional<IndexForm> IndexForm::exactlyDividedBy(int64_t divisor) const {
  if (divisor == 0 || constant % divisor)
    return std::nullopt;
  IndexForm quotient = *this;
  quotient.constant /= divisor;
  for (IndexTerm &term : quotient.terms) {
    if (term.coef % divisor)
      return std::nullopt;
    term.coef /= divisor;
  }
  return quotient;
}

std::optional<IndexForm> IndexForm::dividedBy(int64_t divisor, bool isUnsigned) const {
  // A sum of digits is the quotient's as well if it is nowhere negative and no larger than the number.
  bool isData = isUnsigned && constant == 0 && llvm::all_of(terms, [&](const IndexTerm &term) {
                  return term.kind == IndexTerm::Kind::Data && term.var == terms.front().var && term.coef > 0 &&
                         (term.hi() < kAnyData || term.coef <= term.lo);
                });
  if (divisor <= 0 || (!isData && (hasScalar() || getRange().first < 0)))
    return std::nullopt;
  IndexForm whole(constant / divisor), rest(constant % divisor);
  llvm::SmallVector<IndexTerm, 4> all(terms.begin(), terms.end());
  for (size_t i = 0; i < all.size(); ++i) {
    IndexTerm &term = all[i];
    if (term.coef > 0 && term.coef < divisor && term.coef * term.size > divisor && divisor % term.coef == 0 &&
        term.size % (divisor / term.coef) == 0)
      split(all, i, term.lo * (divisor / term.coef));
    IndexTerm part = all[i];
    if (part.coef % divisor == 0) {
      part.coef /= divisor;
      whole.terms.push_back(part);
    } else {
      rest.terms.push_back(part);
    }
  }
  if (!whole.canonicalize() || !rest.canonicalize())
    return std::nullopt;
  auto [low, high] = rest.getRange();
  if (low < 0 || high >= divisor)
    return std::nullopt;
  return whole;
}

std::optional<IndexForm> IndexForm::modulo(int64_t divisor, bool isUnsigned) const {
  std::optional<IndexForm> quotient = dividedBy(divisor, isUnsigned);
  return quotient ? plus(*quotient, -divisor) : std::nullopt;
}

bool IndexForm::hasScalar() const {
  return llvm::any_of(terms, [](const IndexTerm &term) {
    return term.kind == IndexTerm::Kind::Scalar || term.kind == IndexTerm::Kind::Data;
  });
}

bool IndexForm::hasData() const {
  return llvm::any_of(terms, [](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Data; });
}

bool IndexForm::hasRank() const {
  return llvm::any_of(terms, [](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Rank; });
}

bool IndexForm::uses(IndexTerm::Kind kind, unsigned var) const {
  return llvm::any_of(terms, [&](const IndexTerm &term) { return term.kind == kind && term.var == var; });
}

llvm::SmallVector<RankDigit, 2> IndexForm::getRanks() const {
  llvm::SmallVector<RankDigit, 2> ranks;
  for (const IndexTerm &term : terms)
    if (term.kind == IndexTerm::Kind::Rank)
      ranks.push_back({term.lo, term.size});
  return ranks;
}

std::pair<int64_t, int64_t> IndexForm::getRange() const {
  int64_t low = constant, high = constant;
  for (const IndexTerm &term : terms) {
    int64_t &end = term.coef < 0 ? low : high;
    if (term.kind == IndexTerm::Kind::Scalar || (term.kind == IndexTerm::Kind::Data && term.hi() >= kAnyData))
      return {-kAnyIndex, kAnyIndex};
    if (isUnknownSize(term.size))
      end = term.coef < 0 ? -kAnyIndex : kAnyIndex;
    else if (std::abs(end) < kAnyIndex)
      end += term.coef * (term.size - 1);
  }
  return {low, high};
}

bool IndexForm::isInside(int64_t size) const {
  if (isUnknownSize(size))
    return constant == 0 && terms.size() == 1 && terms[0].coef == 1 && terms[0].size == size;
  auto [low, high] = getRange();
  return low >= 0 && high < size;
}

int64_t IndexForm::evaluate(int64_t rank, llvm::ArrayRef<int64_t> loops) const {
  int64_t sum = constant;
  for (const IndexTerm &term : terms)
    sum += term.coef * (((term.kind == IndexTerm::Kind::Rank ? rank : loops[term.var]) / term.lo) % term.size);
  return sum;
}

bool IndexForm::hasOneOrder() const {
  std::optional<int64_t> order;
  for (const IndexTerm &term : terms)
    if (term.kind == IndexTerm::Kind::Rank) {
      if (order && *order != getOrder(term.lo))
        return false;
      order = getOrder(term.lo);
    }
  return true;
}

bool IndexForm::isBijective() const {
  if (!hasOneOrder())
    return false;
  llvm::SmallVector<IndexTerm, 4> sorted(terms.begin(), terms.end());
  llvm::sort(sorted, [](const IndexTerm &a, const IndexTerm &b) { return a.coef < b.coef; });
  int64_t next = 1;
  for (const IndexTerm &term : sorted) {
    if (term.kind == IndexTerm::Kind::Scalar || term.kind == IndexTerm::Kind::Data || term.coef != next)
      return false;
    next *= term.size;
  }
  return true;
}

bool IndexForm::tellsApart(unsigned loop, int64_t extent) const {
  int64_t values = 1;
  for (const IndexTerm &term : terms) {
    if (term.kind != IndexTerm::Kind::Loop)
      continue;
    if (term.var != loop)
      return false;
    values *= term.size; // digits of a variable do not overlap
  }
  return values == extent;
}

std::optional<IndexForm> IndexForm::rename(llvm::ArrayRef<Renamed> map) const {
  IndexForm result(constant);
  llvm::SmallVector<IndexTerm, 4> all(terms.begin(), terms.end());
  for (size_t i = 0; i < all.size(); ++i) {
    bool renamed = false;
    for (const Renamed &entry : map) {
      if (all[i].kind != entry.kind || all[i].var != entry.var)
        continue;
      int64_t hi = entry.lo * entry.size;
      if (all[i].hi() <= entry.lo || all[i].lo >= hi)
        continue;
      if (all[i].hi() > hi && !split(all, i, hi))
        return std::nullopt;
      if (all[i].lo < entry.lo) {
        if (!split(all, i, entry.lo)) // the part above is visited later
          return std::nullopt;
        continue;
      }
      if (all[i].lo % entry.lo)
        return std::nullopt;
      result.terms.push_back(
          {entry.newKind, entry.newVar, entry.newLo * (all[i].lo / entry.lo), all[i].size, all[i].coef});
      renamed = true;
      break;
    }
    if (!renamed)
      result.terms.push_back(all[i]);
  }
  if (!result.canonicalize())
    return std::nullopt;
  return result;
}

std::optional<IndexForm> IndexForm::substitute(unsigned loop, int64_t size, const IndexForm &by) const {
  IndexForm rest(constant);
  int64_t coef = 0;
  for (const IndexTerm &term : terms) {
    if (term.kind != IndexTerm::Kind::Loop || term.var != loop) {
      rest.terms.push_back(term);
      continue;
    }
    if (term.lo != 1 || term.size != size)
      return std::nullopt;
    coef = term.coef;
  }
  return rest.plus(by, coef);
}

IndexForm IndexForm::renameLoops(llvm::ArrayRef<unsigned> to) const {
  IndexForm result = *this;
  for (IndexTerm &term : result.terms)
    if (term.kind == IndexTerm::Kind::Loop)
      term.var = to[term.var];
  (void)result.canonicalize();
  return result;
}

void IndexForm::appendKey(llvm::SmallVectorImpl<int64_t> &key) const {
  key.push_back(constant);
  key.push_back(terms.size());
  for (const IndexTerm &term : terms)
    key.append({int64_t(term.kind), int64_t(term.var), term.lo, term.size, term.coef});
}

/// The name of a rank digit: its axis, or its position.
static std::string toText(const IndexTerm &term, const Mesh *mesh) {
  std::string name;
  if (term.kind == IndexTerm::Kind::Rank && mesh) {
    DimEntries entries;
    if (appendAxes({term.lo, term.size}, *mesh, entries)) {
      for (const DimEntry &entry : entries) {
        const MeshAxis &axis = mesh->axes[entry.axis];
        name += (name.empty() ? "" : ".") + axis.name;
        if (entry.size != axis.size)
          name += ":(" + std::to_string(entry.pre) + ")" + std::to_string(entry.size);
      }
      return name;
    }
  }
  name = term.kind == IndexTerm::Kind::Rank   ? "rank"
         : term.kind == IndexTerm::Kind::Loop ? "i" + std::to_string(term.var)
         : term.kind == IndexTerm::Kind::Data ? "data"
                                              : "scalar";
  if (term.kind == IndexTerm::Kind::Scalar)
    return name;
  if (term.lo != 1)
    name += " / " + std::to_string(term.lo);
  if (term.kind == IndexTerm::Kind::Rank)
    name += " mod " + std::to_string(term.size);
  return term.lo != 1 || term.kind == IndexTerm::Kind::Rank ? "(" + name + ")" : name;
}

std::string IndexForm::toString(const Mesh *mesh) const {
  std::string text;
  for (const IndexTerm &term : terms) {
    if (!text.empty())
      text += term.coef < 0 ? " - " : " + ";
    else if (term.coef < 0)
      text += "-";
    if (std::abs(term.coef) != 1)
      text += std::to_string(std::abs(term.coef)) + " ";
    text += toText(term, mesh);
  }
  if (text.empty())
    return std::to_string(constant);
  if (constant)
    text += (constant < 0 ? " - " : " + ") + std::to_string(std::abs(constant));
  return text;
}

llvm::SmallVector<IndexForm, 4> proof::getIndexForms(const Layout &layout) {
  llvm::SmallVector<IndexForm, 4> forms;
  llvm::SmallVector<int64_t, 4> local = layout.localShape();
  int64_t minor = 1;
  for (int64_t size : layout.shape)
    minor *= std::max<int64_t>(size, 1);
  for (auto [d, size] : llvm::enumerate(layout.shape)) {
    int64_t outer = minor;
    minor /= std::max<int64_t>(size, 1);
    auto uneven = llvm::find_if(layout.uneven, [&](const UnevenDim &dim) { return dim.dim == d; });
    if (uneven != layout.uneven.end()) {
      int64_t chunk = uneven->chunk(size);
      int64_t step = uneven->window ? uneven->window->step : chunk;
      IndexForm form(uneven->window ? uneven->window->offset : 0);
      for (const RankDigit &rank : llvm::reverse(uneven->ranks)) {
        form = *form.plus(IndexForm::ofRank(rank), step);
        step *= rank.size;
      }
      forms.push_back(*form.plus(IndexForm::ofLoop(d, local[d])));
      continue;
    }
    // Digits of the dim, minor to major; what they do not cover is local.
    IndexForm form;
    int64_t at = 1, localAt = 1;
    auto addLocal = [&](int64_t to) {
      if (to > at) {
        IndexForm digit = *IndexForm::ofLoop(d, local[d]).dividedBy(localAt)->modulo(to / at);
        form = *form.plus(digit, at);
        localAt *= to / at;
      }
      at = to;
    };
    for (const Digit &digit : llvm::reverse(layout.digits)) { // by rising lo
      int64_t lo = std::max(digit.lo, minor), hi = std::min(digit.hi, outer);
      if (lo >= hi)
        continue;
      addLocal(lo / minor);
      form = *form.plus(IndexForm::ofRank({digit.stride * (lo / digit.lo), hi / lo}), at);
      at = hi / minor;
    }
    addLocal(std::max<int64_t>(size, 1));
    forms.push_back(form);
  }
  return forms;
}
