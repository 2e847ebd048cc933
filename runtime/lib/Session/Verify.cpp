//===- Verify.cpp - Results against the reference of a bundle -------------===//

#include "shardkit/rt/Session/Verify.h"

#include "SessionImpl.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

namespace {

/// Whether an argument of the reference is made of what the ranks hold: nothing else has it whole.
bool isHeldByRanks(const FunctionInfo &full, const FunctionInfo::ReferenceArgument &given, const TensorSource *source) {
  const auto *stored = source ? std::get_if<StoredSource>(source) : nullptr;
  if (given.source >= 0)
    return !stored || stored->made;
  if (source && std::holds_alternative<RandomTensor>(*source))
    return false;
  const std::optional<LoadInfo> &load = full.arguments[given.argument].load;
  return !stored || (load && !stored->made && !load->reference);
}

const TensorSource *sourceOf(const std::vector<TensorSource> &sources, size_t argument) {
  return sources.empty() ? nullptr : &sources[argument];
}

/// The pieces of a copy of an argument that are of the stored tensor `name`.
std::vector<const ExtentPiece *> findPieces(const ValueInfo &value, const std::string &name) {
  std::vector<const ExtentPiece *> pieces;
  if (value.load)
    for (const ExtentPiece &piece : value.load->pieces)
      if (value.load->sources[size_t(piece.source)].name == name)
        pieces.push_back(&piece);
  return pieces;
}

/// Calls fn(argument, copy, pieces) for all arguments that have pieces of the stored tensor `name`.
template <typename Fn> void forEachWithPieces(const Runnable &what, const std::string &name, Fn &&fn) {
  for (size_t k = 0; k < what.full().arguments.size(); ++k) {
    const std::vector<Runnable::Position> &positions = what.argumentPositions(k);
    for (size_t c = 0; c < positions.size(); ++c)
      if (auto pieces = findPieces(what.held(positions[c].stage).arguments[positions[c].index], name); !pieces.empty())
        fn(k, c, pieces);
  }
}

/// Calls fn(argument) for the arguments of which the ranks hold what the reference needs.
template <typename Fn> void forEachHeld(const Runnable &what, const std::vector<TensorSource> &sources, Fn &&fn) {
  const FunctionInfo &full = what.full();
  for (const FunctionInfo::ReferenceArgument &given : full.referenceArguments) {
    if (!isHeldByRanks(full, given, sourceOf(sources, given.argument)))
      continue;
    if (given.source < 0)
      fn(given.argument);
    else
      forEachWithPieces(what, full.arguments[given.argument].load->sources[size_t(given.source)].name,
                        [&](size_t argument, size_t, const auto &) { fn(argument); });
  }
}

/// Runs the reference on process 0 and compares.
class Verifier {
public:
  Verifier(SessionImpl &session, SessionFunction &function, const std::vector<Array> &arguments,
           const std::vector<Array> &results, const std::vector<TensorSource> &sources, const VerifyOptions &options)
      : session_(session), what_(function.runnable), full_(what_.full()), arguments_(arguments), results_(results),
        sources_(sources), options_(options), bundle_(*session.bundles[function.bundle]) {}

  Expected<std::vector<ResultCheck>> run();

private:
  bool isFirst() const { return session_.backend->process() == 0; }
  /// Together: what the ranks hold, to the arguments of the reference.
  Status gatherHeld();
  Status gatherPieces(const LoadSource &wanted, void *to);
  /// The other arguments.
  Status loadArgument(size_t index, const TensorSource &source);
  Status callReference(const EntryPoint &entry, const LoadInfo &load, const StoredSource &stored, void *to);
  Status runReference();
  // With an error so far, process 0 only takes what the others send.
  /// By rank and result.
  Status compareShards(Status status, std::vector<std::vector<Difference>> &perRank);
  Status compareCopies(std::vector<ResultCheck> &checks);
  ResultCheck check(size_t i, const std::vector<std::vector<Difference>> &perRank) const;

  SessionImpl &session_;
  const Runnable &what_;
  const FunctionInfo &full_;
  const std::vector<Array> &arguments_, &results_;
  const std::vector<TensorSource> &sources_;
  const VerifyOptions &options_;
  Bundle &bundle_;
};

Status Verifier::gatherPieces(const LoadSource &wanted, void *to) {
  Status status;
  const int64_t size = dtypeSize(wanted.dtype);
  forEachWithPieces(what_, wanted.name, [&](size_t k, size_t c, const std::vector<const ExtentPiece *> &pieces) {
    Status visited = session_.visitOnFirst(
        *SessionImpl::stateOf(arguments_[k]), c, [](size_t) { return true; },
        [&](size_t r, const void *data) {
          for (const ExtentPiece *piece : pieces)
            scatterLocal(piece->extents, int64_t(r), size, static_cast<const char *>(data) + piece->localBase * size,
                         static_cast<char *>(to) + piece->globalBase * size);
        });
    if (status.ok())
      status = visited;
  });
  return status;
}

Status Verifier::gatherHeld() {
  bool isAny = false;
  Status status; // Other processes go on, too, when one has an error.
  for (size_t i = 0; i < full_.referenceArguments.size(); ++i) {
    const FunctionInfo::ReferenceArgument &given = full_.referenceArguments[i];
    if (!isHeldByRanks(full_, given, sourceOf(sources_, given.argument)))
      continue;
    isAny = true;
    void *to = isFirst() ? session_.reference.argument(i) : nullptr;
    const Array &argument = arguments_[given.argument];
    Status gathered = given.source < 0
                          ? session_.readOnFirst(*SessionImpl::stateOf(argument), 0, to)
                          : gatherPieces(full_.arguments[given.argument].load->sources[size_t(given.source)], to);
    if (status.ok())
      status = gathered;
  }
  return isAny ? session_.backend->agree(status) : Status();
}

Status Verifier::callReference(const EntryPoint &entry, const LoadInfo &load, const StoredSource &stored, void *to) {
  SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(full_, entry, stored.tensors.size(), 1));
  LoadPlan plan;
  std::vector<Buffer> buffers;
  std::vector<void *> pointers;
  for (size_t i = 0; i < stored.tensors.size(); ++i) {
    const LoadSource &tensor = load.sources[i];
    buffers.emplace_back(tensor.elements * dtypeSize(tensor.dtype));
    pointers.push_back(buffers.back().data());
    plan.addFull(stored.tensors[i], tensor.dtype, pointers.back());
  }
  LoadStats stats;
  SK_RETURN_IF_ERROR(plan.run(session_.options.load, nullptr, nullptr, stats));
  return Executor::call(program, 0, 1, pointers.data(), &to, entry.arenaBytes);
}

Status Verifier::loadArgument(size_t index, const TensorSource &source) {
  const FunctionInfo::ReferenceArgument &given = full_.referenceArguments[index];
  const ValueInfo &value = full_.arguments[given.argument];
  void *to = session_.reference.argument(index);
  if (const auto *random = std::get_if<RandomTensor>(&source)) {
    random->fill(to, 1, 0, 1, value.globalElements);
    return {};
  }
  const auto &stored = std::get<StoredSource>(source);
  if (given.source < 0 && value.load && !stored.made)
    return callReference(*value.load->reference, *value.load, stored, to);
  LoadPlan plan;
  LoadStats stats;
  if (given.source >= 0)
    plan.addFull(stored.tensors[size_t(given.source)], value.load->sources[size_t(given.source)].dtype, to);
  else
    plan.addFull(stored.tensors[0], value.dtype, to);
  return plan.run(session_.options.load, nullptr, nullptr, stats);
}

Status Verifier::runReference() {
  for (size_t i = 0; i < full_.referenceArguments.size(); ++i) {
    const FunctionInfo::ReferenceArgument &given = full_.referenceArguments[i];
    const TensorSource *source = sourceOf(sources_, given.argument);
    if (!isHeldByRanks(full_, given, source))
      SK_RETURN_IF_ERROR(loadArgument(i, *source));
  }
  SK_ASSIGN_OR_RETURN(sk_program program, bundle_.referenceEntry(full_));
  return session_.executor.runReference(full_, program, session_.reference);
}

Status Verifier::compareShards(Status status, std::vector<std::vector<Difference>> &perRank) {
  perRank.assign(size_t(what_.devices()), std::vector<Difference>(results_.size()));
  auto compare = [&](size_t i, const ArrayLayout::Copy &copy, size_t r, const void *data) {
    perRank[size_t(copy.ranks[r])][i].merge(compareLocal(copy.value, int64_t(r), data, session_.reference.result(i)));
  };
  auto isHere = [&](int64_t rank) {
    return session_.backend->ownerOf(rank, what_.devices()) == session_.backend->process();
  };
  if (isFirst() && status.ok()) // The ranks of this process at once.
    status = session_.executor.forEachRank(what_.devices(), [&](int64_t rank) -> Status {
      Buffer room;
      for (size_t i = 0; i < results_.size(); ++i)
        for (size_t c = 0; c < results_[i].layout().copies.size(); ++c) {
          const ArrayLayout::Copy &copy = results_[i].layout().copies[c];
          const size_t r = size_t(what_.meshRank(rank));
          if (r >= copy.ranks.size() || copy.ranks[r] != rank)
            continue;
          SK_ASSIGN_OR_RETURN(const void *data, session_.bringToHost(*SessionImpl::stateOf(results_[i]), c, r, room));
          compare(i, copy, r, data);
        }
      return {};
    });
  for (size_t i = 0; i < results_.size(); ++i)
    for (size_t c = 0; c < results_[i].layout().copies.size(); ++c) {
      const ArrayLayout::Copy &copy = results_[i].layout().copies[c];
      Status visited = session_.visitOnFirst(
          *SessionImpl::stateOf(results_[i]), c, [&](size_t r) { return !isFirst() || !isHere(copy.ranks[r]); },
          [&](size_t r, const void *data) {
            if (status.ok())
              compare(i, copy, r, data);
          });
      if (status.ok())
        status = visited;
    }
  return status;
}

Status Verifier::compareCopies(std::vector<ResultCheck> &checks) {
  Status status;
  for (size_t i = 0; i < results_.size(); ++i) {
    const std::vector<Runnable::Position> &positions = what_.resultPositions(i);
    const Array::State &state = *SessionImpl::stateOf(results_[i]);
    Buffer first, other;
    for (size_t c = 0; c < positions.size() && positions.size() > 1; ++c) {
      Buffer &copy = c == 0 ? first : other;
      if (isFirst())
        copy.reserve(full_.results[i].globalBytes());
      Status read = session_.readOnFirst(state, c, copy.data());
      if (status.ok())
        status = read;
      if (c == 0 || !isFirst() || !checks[i].disagreement.empty())
        continue;
      if (std::memcmp(first.data(), other.data(), size_t(full_.results[i].globalBytes())) != 0)
        checks[i].disagreement = "stages " + std::to_string(positions[0].stage) + " and " +
                                 std::to_string(positions[c].stage) + " do not have the same bits";
    }
  }
  return status;
}

ResultCheck Verifier::check(size_t i, const std::vector<std::vector<Difference>> &perRank) const {
  const ValueInfo &value = full_.results[i];
  ResultCheck check;
  for (const std::vector<Difference> &differences : perRank)
    check.difference.merge(differences[i]);
  check.tolerance = Tolerance::forResult(value);
  check.tolerance.exact |= options_.exact;
  if (options_.rtol) {
    check.tolerance.rtol = *options_.rtol;
    check.tolerance.atol = *options_.rtol / 1000;
  }
  if (options_.atol)
    check.tolerance.atol = *options_.atol;
  check.fraction = check.difference.fractionOf(value.dtype, check.tolerance);
  check.isWithin = check.difference.within(value.dtype, check.tolerance);
  return check;
}

Expected<std::vector<ResultCheck>> Verifier::run() {
  Backend &backend = *session_.backend;
  Status status = checkReference(what_, sources_);
  for (const Array &result : results_)
    if (status.ok())
      status = session_.check(result, "verify");
  forEachHeld(what_, sources_, [&](size_t argument) {
    if (status.ok())
      status = session_.check(arguments_[argument], "verify");
  });
  for (const Array &result : results_)
    if (status.ok())
      status = SessionImpl::checkComputed(*SessionImpl::stateOf(result));
  if (isFirst() && status.ok())
    status = catchExceptions([&] {
      session_.reference.bind(full_, /*global=*/true);
      return Status();
    });
  SK_RETURN_IF_ERROR(backend.agree(status));
  SK_RETURN_IF_ERROR(gatherHeld());
  if (isFirst())
    status = catchExceptions([&] { return runReference(); });
  std::vector<std::vector<Difference>> perRank;
  status = compareShards(status, perRank);
  std::vector<ResultCheck> checks;
  for (size_t i = 0; i < results_.size(); ++i)
    checks.push_back(check(i, perRank));
  Status compared = compareCopies(checks);
  SK_RETURN_IF_ERROR(backend.agree(status.ok() ? compared : status));
  std::string within;
  for (ResultCheck &check : checks)
    within += check.isWithin && check.disagreement.empty() ? '1' : '0';
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend.exchange(within));
  for (size_t i = 0; i < checks.size(); ++i)
    checks[i].isWithin = all[0][i] == '1';
  return checks;
}

} // namespace

Status checkReference(const Runnable &what, const std::vector<TensorSource> &sources) {
  const FunctionInfo &full = what.full();
  if (!full.reference)
    return invalid(what.title() + ": the bundle has no reference to verify against, compile with --with-reference");
  for (const FunctionInfo::ReferenceArgument &given : full.referenceArguments) {
    if (given.source < 0 || !isHeldByRanks(full, given, sourceOf(sources, given.argument)))
      continue;
    const ValueInfo &value = full.arguments[given.argument];
    const std::string &name = value.load->sources[size_t(given.source)].name;
    bool isHeld = false;
    forEachWithPieces(what, name, [&](size_t, size_t, const auto &) { isHeld = true; });
    if (!isHeld)
      return invalid("--verify needs the stored tensor '" + name + "' of weight '" + value.name +
                     "', of which the set has what a loading function made; expected "
                     "the set that it was made from");
  }
  return {};
}

Status checkDonatedReference(const Runnable &what, const std::vector<TensorSource> &sources) {
  const FunctionInfo &full = what.full();
  Status status;
  forEachHeld(what, sources, [&](size_t argument) {
    const bool isTied = std::any_of(full.results.begin(), full.results.end(),
                                    [&](const ValueInfo &result) { return result.tied == int64_t(argument); });
    if (isTied && status.ok())
      status = invalid("argument '" + full.arguments[argument].name +
                       "' comes in shards, which the step overwrites, expected a set with it whole");
  });
  return status;
}

Expected<std::vector<ResultCheck>> verify(Session &session, int function, const std::vector<Array> &arguments,
                                          const std::vector<Array> &results, const std::vector<TensorSource> &sources,
                                          const VerifyOptions &options) {
  SessionImpl &impl = SessionImpl::of(session);
  std::vector<ResultCheck> checks;
  SK_RETURN_IF_ERROR(impl.inTurn([&]() -> Status {
    Verifier verifier(impl, impl.functions[size_t(function)], arguments, results, sources, options);
    SK_ASSIGN_OR_RETURN(checks, verifier.run());
    return {};
  }));
  return checks;
}

Expected<std::vector<std::string>> digest(Session &session, const std::vector<Array> &arrays) {
  SessionImpl &impl = SessionImpl::of(session);
  std::vector<std::string> digests;
  // Calls fn(rank, digest of its array, copy, rank of the mesh) for all shards.
  auto forEachShard = [&](auto &&fn) {
    for (size_t i = 0; i < arrays.size(); ++i)
      for (size_t c = 0; c < arrays[i].layout().copies.size(); ++c)
        for (size_t r = 0; r < arrays[i].layout().copies[c].ranks.size(); ++r)
          fn(i, c, r, impl.backend->ownerOf(arrays[i].layout().copies[c].ranks[r], arrays[i].layout().devices));
  };
  SK_RETURN_IF_ERROR(impl.inTurn([&]() -> Status {
    std::string mine;
    Status status;
    Buffer room;
    forEachShard([&](size_t i, size_t c, size_t r, int owner) {
      if (owner != impl.backend->process() || !status.ok())
        return;
      const Array::State &state = *SessionImpl::stateOf(arrays[i]);
      status = SessionImpl::checkComputed(state);
      auto data = status.ok() ? impl.bringToHost(state, c, r, room) : Expected<const void *>(status);
      status = data.status();
      if (status.ok())
        mine += digestLocal(state.layout->copies[c].value, int64_t(r), *data);
    });
    if (impl.hasDevices()) // Else all have the same.
      status = impl.backend->agree(status);
    SK_RETURN_IF_ERROR(status);
    SK_ASSIGN_OR_RETURN(std::vector<std::string> all, impl.backend->exchange(mine));
    constexpr size_t digits = 32;
    std::vector<size_t> next(all.size());
    digests.resize(arrays.size());
    forEachShard([&](size_t i, size_t, size_t, int owner) {
      digests[i] += all[size_t(owner)].substr(std::exchange(next[size_t(owner)], next[size_t(owner)] + digits), digits);
    });
    return {};
  }));
  return digests;
}

} // namespace shardkit::rt
