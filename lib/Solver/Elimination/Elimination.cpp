//===- Elimination.cpp - Variables one by one -----------------------------===//

#include "Elimination.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Bytes of tables beyond which an elimination that may end early does.
static constexpr size_t kMaxMemory = size_t(2) << 30;

/// Ties that are compared at most.
static constexpr size_t kMaxTies = size_t(1) << 22;

//===----------------------------------------------------------------------===//
// JoinMemo
//===----------------------------------------------------------------------===//

unsigned JoinMemo::addShape(const JoinShape &shape) {
  SmallVector<unsigned, 32> key(shape.sizes.begin(), shape.sizes.end());
  for (const auto &dims : shape.inputs) {
    key.push_back(~0u);
    key.append(dims.begin(), dims.end());
  }
  auto [id, inserted] = shapeKeys.insert(key);
  if (inserted)
    shapes.push_back(shape);
  return id;
}

SmallVector<const Table *, 8> JoinMemo::getTables(unsigned entry) const {
  SmallVector<const Table *, 8> tables;
  for (TableId id : getInputs(entry))
    tables.push_back(&pool.get(id));
  return tables;
}

unsigned JoinMemo::join(unsigned shape, ArrayRef<TableId> tables, int64_t joinLimit) {
  // Impossible entries stay impossible with entries below 0.
  joinLimit = std::min({joinLimit, limit, kInf / 2});
  SmallVector<unsigned, 8> key = {shape, unsigned(joinLimit), unsigned(joinLimit >> 32)};
  key.append(tables.begin(), tables.end());
  ++statistics.eliminated;
  auto [index, inserted] = keys.insert(key);
  if (inserted) {
    entryOfKey.push_back(entries.size());
    entries.push_back({shape, kNoTable, {}, inputs.size()});
    inputs.insert(inputs.end(), tables.begin(), tables.end());
  }
  unsigned number = entryOfKey[index];
  Entry &entry = entries[number];
  entry.lastRound = round;
  if (entry.result != kNoTable)
    return number;
  const JoinShape &s = shapes[shape];
  Table result = joinAndMinimize(s, getTables(number), joinLimit, entry.minimum, work);
  uint64_t size = result.size() * s.sizes[0];
  ++statistics.joins;
  statistics.joinEntries += size;
  statistics.largestJoin = std::max(statistics.largestJoin, size);
  entry.result = pool.internPassing(std::move(result));
  return number;
}

void JoinMemo::forgetUnused() {
  // Joins of different tables may have given the same.
  llvm::DenseSet<TableId> used;
  for (const Entry &entry : entries)
    if (entry.lastRound == round)
      used.insert(entry.result);
  llvm::SmallDenseSet<TableId> unused;
  for (Entry &entry : entries) {
    if (entry.lastRound == round || entry.result == kNoTable)
      continue;
    if (!used.contains(entry.result) && unused.insert(entry.result).second)
      pool.release(entry.result);
    entry.result = kNoTable;
  }
  ++round;
}

ArrayRef<TableId> JoinMemo::match(ArrayRef<MiniBucket> miniBuckets) {
  SmallVector<unsigned, 32> key;
  for (const MiniBucket &miniBucket : miniBuckets) {
    key.append({miniBucket.shape, unsigned(miniBucket.shared.size())});
    key.append(miniBucket.tables.begin(), miniBucket.tables.end());
    key.append(miniBucket.shared.begin(), miniBucket.shared.end());
  }
  auto [index, inserted] = matchKeys.insert(key);
  if (!inserted)
    return matches[index];
  SmallVector<Table, 4> minimum;
  for (const MiniBucket &miniBucket : miniBuckets) {
    SmallVector<const Table *, 8> tables;
    for (TableId id : miniBucket.tables)
      tables.push_back(&pool.get(id));
    minimum.push_back(getMinMarginal(shapes[miniBucket.shape], tables, miniBucket.shared, work));
  }
  for (size_t i = 0; i < minimum[0].size(); ++i) {
    int64_t sum = 0;
    for (const Table &marginal : minimum)
      sum = std::min(sum + marginal.time[i], kInf);
    for (auto [p, marginal] : llvm::enumerate(minimum))
      marginal.time[i] =
          sum >= kInf ? kInf : sum / miniBuckets.size() + (p < sum % miniBuckets.size()) - marginal.time[i];
  }
  SmallVector<TableId, 4> &result = matches.emplace_back();
  for (Table &marginal : minimum)
    result.push_back(pool.intern(std::move(marginal)));
  return result;
}

unsigned JoinMemo::findMinimum(unsigned entry, ArrayRef<unsigned> at) {
  const JoinShape &shape = getShape(entry);
  uint64_t index = 0;
  for (unsigned i = 0; i < at.size(); ++i)
    index = index * shape.sizes[i + 1] + at[i];
  auto [it, inserted] = minima.try_emplace({entry, index}, 0);
  if (inserted)
    it->second = solver::findMinimum(shape, getTables(entry), at);
  return it->second;
}

void JoinMemo::addSlice(unsigned entry, ArrayRef<unsigned> at, llvm::MutableArrayRef<Price> sums) const {
  solver::addSlice(getShape(entry), getTables(entry), at, sums);
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

Elimination::Elimination(const Problem &problem, ArrayRef<unsigned> order, int64_t maxJoin, JoinMemo &memo)
    : memo(&memo), sizes(problem.sizes) {
  unsigned n = problem.sizes.size();
  numTables = n + problem.edges.size();
  // Variables that stay come last, by number.
  std::vector<unsigned> position(n);
  for (unsigned v = 0; v < n; ++v)
    position[v] = n + v;
  for (auto [i, v] : llvm::enumerate(order))
    position[v] = i;

  // The tables of each bucket: variables in elimination order, and the source of the table. A bucket belongs to the
  // variable that is eliminated first.
  struct Input {
    SmallVector<unsigned, 6> scope;
    unsigned source;
  };
  std::vector<SmallVector<Input, 4>> buckets(order.size());
  auto put = [&](SmallVector<unsigned, 6> scope, unsigned source) {
    if (position[scope.front()] < n)
      buckets[position[scope.front()]].push_back({std::move(scope), source});
    else if (source >= numTables)
      rests.push_back(source - numTables);
  };
  for (unsigned v = 0; v < n; ++v)
    if (problem.unary[v] != kNoTable)
      put({v}, v);
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    bool swap = position[edge.a] > position[edge.b];
    put(swap ? SmallVector<unsigned, 6>{edge.b, edge.a} : SmallVector<unsigned, 6>{edge.a, edge.b}, n + i);
  }

  auto byPosition = [&](unsigned x, unsigned y) { return position[x] < position[y]; };
  for (unsigned v : order) {
    auto &bucket = buckets[position[v]];
    // By position, so that repeated layers are equal.
    llvm::sort(bucket, [&](const Input &x, const Input &y) {
      if (x.scope == y.scope)
        return x.source < y.source;
      return std::lexicographical_compare(x.scope.begin(), x.scope.end(), y.scope.begin(), y.scope.end(), byPosition);
    });
    // Mini-buckets, first fit, the widest tables first; mostly there is one.
    SmallVector<SmallVector<unsigned, 8>, 1> miniBuckets;
    SmallVector<SmallVector<unsigned, 8>, 1> scopes;
    auto getEntries = [&](ArrayRef<unsigned> scope) {
      double entries = 1;
      for (unsigned u : scope)
        entries *= sizes[u];
      return entries;
    };
    SmallVector<unsigned, 8> byWidth;
    for (unsigned i = 0; i < bucket.size(); ++i)
      byWidth.push_back(i);
    llvm::sort(byWidth, [&](unsigned x, unsigned y) {
      double ex = getEntries(bucket[x].scope), ey = getEntries(bucket[y].scope);
      return ex != ey ? ex > ey : x < y;
    });
    for (unsigned i : byWidth) {
      bool found = false;
      for (unsigned p = 0; p < miniBuckets.size() && !found; ++p) {
        SmallVector<unsigned, 8> both;
        std::set_union(scopes[p].begin(), scopes[p].end(), bucket[i].scope.begin(), bucket[i].scope.end(),
                       std::back_inserter(both), byPosition);
        if (getEntries(both) > double(maxJoin))
          continue;
        scopes[p] = both;
        miniBuckets[p].push_back(i);
        found = true;
      }
      if (!found) {
        miniBuckets.push_back({i});
        scopes.emplace_back(bucket[i].scope.begin(), bucket[i].scope.end());
      }
    }
    exact &= miniBuckets.size() <= 1;
    SmallVector<unsigned, 8> shared; // dims of all mini-buckets
    if (miniBuckets.size() > 1) {
      shared = scopes[0];
      for (const auto &scope : scopes)
        llvm::erase_if(shared, [&](unsigned u) { return !llvm::is_contained(scope, u); });
    }
    for (auto [miniBucket, scope] : llvm::zip_equal(miniBuckets, scopes)) {
      llvm::sort(miniBucket);
      Step step;
      step.v = v;
      step.parent = ~0u;
      step.scope.assign(scope.begin() + 1, scope.end());
      JoinShape shape;
      for (unsigned u : scope)
        shape.sizes.push_back(sizes[u]);
      for (unsigned i : miniBucket) {
        SmallVector<unsigned, 6> dims;
        for (unsigned u : bucket[i].scope)
          dims.push_back(llvm::lower_bound(scope, u, byPosition) - scope.begin());
        shape.inputs.push_back(dims);
        step.inputs.push_back(bucket[i].source);
        if (bucket[i].source >= numTables)
          steps[bucket[i].source - numTables].parent = steps.size();
      }
      if (!shared.empty()) {
        step.unmatched = memo.addShape(shape);
        for (unsigned u : shared)
          step.shared.push_back(llvm::lower_bound(scope, u, byPosition) - scope.begin());
        shape.inputs.push_back(step.shared);
      }
      step.shape = memo.addShape(shape);
      double entries = getEntries(scope);
      largest = std::max(largest, entries);
      all += entries;
      if (!step.scope.empty())
        put(SmallVector<unsigned, 6>(step.scope.begin(), step.scope.end()), numTables + steps.size());
      steps.push_back(std::move(step));
    }
    bucket.clear();
  }
  transposed.assign(numTables, false);
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    transposed[n + i] = position[edge.a] > position[edge.b];
  for (const Problem::Edge &edge : problem.edges)
    edgeSizes.push_back({sizes[edge.a], sizes[edge.b]});
}

Elimination::Run Elimination::run(ArrayRef<TableId> tables, double mayVisit, const Clock *clock,
                                  ArrayRef<int64_t> limits) {
  ++memo->statistics.runs;
  Run run;
  mayVisit += memo->getWork();
  run.entries.reserve(steps.size());
  run.total = Price();
  SmallVector<TableId, 8> inputs;
  ArrayRef<TableId> corrections; // per mini-bucket, from a step on
  size_t firstMiniBucket = 0;
  unsigned n = sizes.size();
  std::vector<int64_t> spent(limits.empty() ? 0 : steps.size(), 0); // in what is joined into a step
  auto getInputs = [&](const Step &step) {
    inputs.clear();
    for (unsigned source : step.inputs) {
      if (source >= numTables)
        inputs.push_back(memo->get(run.entries[source - numTables]).result);
      else if (transposed[source])
        inputs.push_back(
            memo->pool.transpose(tables[source], edgeSizes[source - n].first, edgeSizes[source - n].second));
      else
        inputs.push_back(tables[source]);
    }
  };
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (memo->getWork() > mayVisit || (clock && (clock->isOver() || memo->pool.getMemory() > kMaxMemory))) {
      run.isOver = true;
      return run;
    }
    int64_t limit = limits.empty() ? kInf : std::max<int64_t>(limits[step.v] - spent[i], 0);
    if (!step.shared.empty() && (i == 0 || steps[i - 1].v != step.v)) {
      SmallVector<JoinMemo::MiniBucket, 4> miniBuckets;
      for (firstMiniBucket = i; firstMiniBucket + miniBuckets.size() < steps.size() &&
                                steps[firstMiniBucket + miniBuckets.size()].v == step.v;) {
        const Step &miniBucket = steps[firstMiniBucket + miniBuckets.size()];
        getInputs(miniBucket);
        miniBuckets.push_back({miniBucket.unmatched, inputs, miniBucket.shared});
      }
      corrections = memo->match(miniBuckets);
    }
    getInputs(step);
    if (!step.shared.empty())
      inputs.push_back(corrections[i - firstMiniBucket]);
    unsigned entry = memo->join(step.shape, inputs, limit);
    if (!limits.empty() && step.parent != ~0u)
      spent[step.parent] = std::min(spent[step.parent] + spent[i] + memo->get(entry).minimum.time, kInf);
    run.entries.push_back(entry);
    run.total = run.total + memo->get(entry).minimum;
  }
  if (run.total.isImpossible())
    run.total = Price::impossible();
  return run;
}

std::vector<int64_t> Elimination::getOutside(const Elimination &other, const Run &run) const {
  std::vector<int64_t> bucketMin(sizes.size(), 0), outside(sizes.size(), 0);
  int64_t total = 0;
  for (auto [step, entry] : llvm::zip_equal(other.steps, run.entries)) {
    int64_t minimum = other.memo->get(entry).minimum.time;
    bucketMin[step.v] += minimum;
    total += minimum;
  }
  // The total of the inputs of a step with itself, and of the step that it is joined into.
  std::vector<int64_t> within(steps.size(), 0), onward(steps.size(), 0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    within[i] += bucketMin[step.v];
    if (step.parent != ~0u)
      within[step.parent] += within[i];
  }
  for (size_t i = steps.size(); i-- > 0;) {
    const Step &step = steps[i];
    int64_t behind = step.parent == ~0u ? 0 : onward[step.parent];
    outside[step.v] = total - within[i] - behind;
    onward[i] = bucketMin[step.v] + behind;
  }
  return outside;
}

std::vector<std::vector<bool>> Elimination::getPossible(const Run &run) const {
  std::vector<std::vector<bool>> possible;
  for (unsigned size : sizes)
    possible.emplace_back(size, true);
  // Repeated layers have the same entries, which are looked at once.
  llvm::DenseMap<unsigned, SmallVector<std::vector<bool>, 6>> ofEntry;
  for (auto [step, entry] : llvm::zip_equal(steps, run.entries)) {
    auto [it, isNew] = ofEntry.try_emplace(entry);
    if (isNew) {
      const Table &table = memo->pool.get(memo->get(entry).result);
      SmallVector<unsigned, 6> at(step.scope.size(), 0);
      for (unsigned u : step.scope)
        it->second.emplace_back(sizes[u], false);
      for (int64_t time : table.time) {
        if (time < kInf)
          for (auto [seen, x] : llvm::zip_equal(it->second, at))
            seen[x] = true;
        for (unsigned d = at.size(); d-- > 0 && ++at[d] == sizes[step.scope[d]];)
          at[d] = 0;
      }
    }
    for (auto [u, seen] : llvm::zip_equal(step.scope, it->second))
      for (unsigned x = 0; x < seen.size(); ++x)
        if (!seen[x])
          possible[u][x] = false;
  }
  return possible;
}

bool Elimination::trace(ArrayRef<const Run *> runs, ArrayRef<uint8_t> labels, llvm::MutableArrayRef<unsigned> choices) {
  SmallVector<unsigned, 8> at;
  SmallVector<Price, 32> sums;
  for (size_t end = steps.size(); end > 0;) {
    size_t begin = end - 1;
    unsigned v = steps[begin].v;
    while (begin > 0 && steps[begin - 1].v == v)
      --begin;
    auto getAt = [&](const Step &step) {
      at.clear();
      for (unsigned u : step.scope)
        at.push_back(choices[u]);
    };
    auto getEntry = [&](size_t i) { return runs[labels.empty() ? 0 : labels[i]]->entries[i]; };
    unsigned choice;
    if (end - begin == 1) {
      getAt(steps[begin]);
      choice = memo->findMinimum(getEntry(begin), at);
    } else {
      // All mini-buckets of a bucket.
      sums.assign(sizes[v], Price());
      for (size_t i = begin; i < end; ++i) {
        getAt(steps[i]);
        memo->addSlice(getEntry(i), at, sums);
      }
      auto minimum = llvm::min_element(sums);
      choice = minimum->isImpossible() ? kNoTable : minimum - sums.begin();
    }
    if (choice == kNoTable)
      return false;
    choices[v] = choice;
    end = begin;
  }
  return true;
}

Price Elimination::traceFewest(const Run &run, ArrayRef<TableId> tables, llvm::MutableArrayRef<unsigned> choices) {
  // Per step: the choices of its scope in a solution of minimal time, and those of its variable that reach it. Backward
  // they are collected, forward their bytes are added.
  struct State {
    SmallVector<unsigned, 6> at;
    SmallVector<unsigned, 2> ties;
    unsigned best = 0;
    int64_t bytes = INT64_MAX;
  };
  std::vector<std::vector<State>> states(steps.size());
  std::vector<llvm::DenseMap<uint64_t, unsigned>> numbers(steps.size());
  auto getIndex = [&](const Step &step, unsigned input, ArrayRef<unsigned> at, unsigned choice) {
    const JoinShape &shape = memo->getShape(run.entries[&step - steps.data()]);
    uint64_t index = 0;
    for (unsigned dim : shape.inputs[input])
      index = index * shape.sizes[dim] + (dim == 0 ? choice : at[dim - 1]);
    return index;
  };
  size_t numTies = 0;
  SmallVector<Price, 32> sums;
  for (size_t i = steps.size(); i-- > 0;) {
    const Step &step = steps[i];
    if (step.parent == ~0u)
      states[i].emplace_back();
    const JoinShape &shape = memo->getShape(run.entries[i]);
    for (State &state : states[i]) {
      sums.assign(shape.sizes[0], Price());
      memo->addSlice(run.entries[i], state.at, sums);
      int64_t minimum = llvm::min_element(sums)->time;
      for (auto [x, sum] : llvm::enumerate(sums))
        if (sum.time == minimum)
          state.ties.push_back(x);
      numTies += state.ties.size();
      if (minimum >= kInf || numTies > kMaxTies)
        return Price::impossible();
      for (unsigned x : state.ties)
        for (auto [j, source] : llvm::enumerate(step.inputs)) {
          if (source < numTables)
            continue;
          unsigned child = source - numTables;
          auto [it, isNew] = numbers[child].try_emplace(getIndex(step, j, state.at, x), states[child].size());
          if (!isNew)
            continue;
          State &added = states[child].emplace_back();
          for (unsigned dim : shape.inputs[j])
            added.at.push_back(dim == 0 ? x : state.at[dim - 1]);
        }
    }
  }
  Price total{run.total.time, 0};
  for (auto [i, step] : llvm::enumerate(steps)) {
    for (State &state : states[i])
      for (unsigned x : state.ties) {
        int64_t bytes = 0;
        for (auto [j, source] : llvm::enumerate(step.inputs)) {
          uint64_t index = getIndex(step, j, state.at, x);
          if (source >= numTables) {
            bytes += states[source - numTables][numbers[source - numTables].lookup(index)].bytes;
            continue;
          }
          unsigned n = sizes.size();
          TableId id = transposed[source] ? memo->pool.transpose(tables[source], edgeSizes[source - n].first,
                                                                 edgeSizes[source - n].second)
                                          : tables[source];
          bytes += memo->pool.get(id).get(index).bytes;
        }
        if (bytes < state.bytes) {
          state.bytes = bytes;
          state.best = x;
        }
      }
    if (step.parent == ~0u)
      total.bytes += states[i][0].bytes;
  }
  std::vector<unsigned> chosen(steps.size(), 0);
  for (size_t i = steps.size(); i-- > 0;) {
    const State &state = states[i][chosen[i]];
    choices[steps[i].v] = state.best;
    for (auto [j, source] : llvm::enumerate(steps[i].inputs))
      if (source >= numTables)
        chosen[source - numTables] = numbers[source - numTables].lookup(getIndex(steps[i], j, state.at, state.best));
  }
  return total;
}
