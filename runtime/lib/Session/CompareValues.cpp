//===- CompareValues.cpp - A call beside its unsharded counterpart --------===//

#include "shardkit/rt/Session/CompareValues.h"

#include "SessionImpl.h"
#include "Support/Names.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Support/File.h"
#include "shardkit/rt/Support/Threads.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <thread>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

/// "%5" of "%5 (scores)", and "scores".
std::pair<std::string, std::string> splitName(const std::string &name) {
  const size_t open = name.find(" (");
  if (open == std::string::npos || name.back() != ')')
    return {name, ""};
  return {name.substr(0, open), name.substr(open + 2, name.size() - open - 3)};
}

bool isReshard(const ProbeInfo &probe) { return probe.producer == "spmd.reshard"; }

bool isNamed(const ProbeInfo &probe, const std::string &name) {
  const auto [printed, given] = splitName(probe.value.name);
  if (name == probe.value.name || name == printed || (!given.empty() && name == given))
    return true;
  // file:line of file:line:column; the last components of the path suffice.
  const size_t column = probe.loc.rfind(':');
  const std::string line = column == std::string::npos ? "" : probe.loc.substr(0, column);
  if (name.find(':') == std::string::npos || name.size() > line.size() ||
      line.compare(line.size() - name.size(), name.size(), name) != 0)
    return false;
  return name.size() == line.size() || line[line.size() - name.size() - 1] == '/';
}

/// The probes that a name selects: of values, or else of reshards of an argument.
std::vector<int64_t> findProbes(const FunctionInfo &function, const std::string &name) {
  std::vector<int64_t> values, reshards;
  for (size_t i = 0; i < function.probes.size(); ++i)
    if (isNamed(function.probes[i], name))
      (isReshard(function.probes[i]) ? reshards : values).push_back(int64_t(i));
  return values.empty() ? reshards : values;
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
std::string shortText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string listText(const Shape &index) {
  std::string text;
  for (int64_t i : index)
    text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + "]";
}

std::string blockText(const WrongElements &wrong) {
  std::string text;
  for (size_t d = 0; d < wrong.begin.size(); ++d)
    text += (d ? ", " : "") + std::to_string(wrong.begin[d]) + ":" + std::to_string(wrong.end[d]);
  return "[" + text + "]";
}

std::string describeValue(const ProbeInfo &probe) {
  std::string text = probe.value.name + (isReshard(probe) ? ", resharded," : " by " + probe.producer);
  return probe.loc.empty() ? text : text + " at " + probe.loc;
}

/// One process's part of a comparison as text that it sends to the others.
std::string pack(const ValueComparison &values, const std::vector<std::string> &files) {
  Json json = {{"differences", Json::array()}, {"files", files}};
  // Numbers as text: JSON has no infinity.
  auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string(text);
  };
  for (const ProbeDifference &known : values.differences())
    json["differences"].push_back({known.times, known.difference.maxAbs, known.difference.maxReference,
                                   known.difference.unequal, known.difference.incomparable, known.difference.elements,
                                   known.maxRel, known.isWithin, known.isPartlyElsewhere});
  if (const auto &first = values.first())
    json["first"] = {
        {"numbers",
         {first->position, first->id, first->time, first->rank, first->wrongRanks, first->ranks, first->elements.count,
          first->wrongElements}},
        {"missing", first->isMissing},
        {"indices", {first->elements.first, first->elements.firstLocal, first->elements.begin, first->elements.end}},
        {"values",
         {number(first->elements.mine), number(first->elements.theirs), number(first->maxAbs), number(first->limit)}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Adds the part of a process.
void merge(const std::string &packed, ValueReport &report) {
  const Json json = Json::parse(packed);
  for (size_t i = 0; i < report.differences.size(); ++i) {
    const Json &entry = json["differences"][i];
    ProbeDifference &known = report.differences[i];
    Difference difference;
    difference.maxAbs = entry[1];
    difference.maxReference = entry[2];
    difference.unequal = entry[3];
    difference.incomparable = entry[4];
    difference.elements = entry[5];
    known.times = std::max(known.times, entry[0].get<int64_t>());
    known.difference.merge(difference);
    known.maxRel = std::max(known.maxRel, entry[6].get<double>());
    known.isWithin &= entry[7].get<bool>();
    known.isPartlyElsewhere |= entry[8].get<bool>();
  }
  for (const Json &file : json["files"])
    report.files.push_back(file);
  if (!json.contains("first"))
    return;
  const Json &in = json["first"];
  WrongValue first;
  auto numbers = in["numbers"].get<std::vector<int64_t>>();
  first.position = numbers[0];
  first.id = numbers[1];
  first.time = numbers[2];
  first.rank = numbers[3];
  first.wrongRanks = numbers[4];
  first.ranks = numbers[5];
  first.elements.count = numbers[6];
  first.wrongElements = numbers[7];
  first.isMissing = in["missing"];
  first.elements.first = in["indices"][0].get<Shape>();
  first.elements.firstLocal = in["indices"][1].get<Shape>();
  first.elements.begin = in["indices"][2].get<Shape>();
  first.elements.end = in["indices"][3].get<Shape>();
  auto number = [&](size_t i) { return std::strtod(in["values"][i].get<std::string>().c_str(), nullptr); };
  first.elements.mine = number(0);
  first.elements.theirs = number(1);
  first.maxAbs = number(2);
  first.limit = number(3);
  if (!report.first || first.position < report.first->position) {
    report.first = std::move(first);
  } else if (first.position == report.first->position) {
    report.first->wrongRanks += first.wrongRanks;
    report.first->ranks += first.ranks;
    report.first->wrongElements += first.wrongElements;
    report.first->maxAbs = std::max(report.first->maxAbs, first.maxAbs);
  }
}

/// The full arguments of the counterpart, on each process, and its run.
class Counterpart {
public:
  Counterpart(SessionImpl &session, const SessionFunction &function) : session_(session), what_(function.runnable) {
    info_ = what_.full();
    info_.reference = info_.unsharded;
    info_.referenceArguments.clear();
    for (size_t i = 0; i < info_.arguments.size(); ++i)
      info_.referenceArguments.push_back({i, -1});
  }

  /// Together, in turn: before the step, which may overwrite arguments.
  Status load(const std::vector<Array> &arguments);
  Status start(Bundle &bundle, ValueComparison &values);
  Status join();

private:
  SessionImpl &session_;
  const Runnable &what_;
  FunctionInfo info_;
  RankMemory memory_;
  std::thread thread_;
  Status status_;
};

Status Counterpart::load(const std::vector<Array> &arguments) {
  Backend &backend = *session_.backend;
  Status status = catchExceptions([&] {
    memory_.bind(info_, /*global=*/true);
    return Status();
  });
  for (const Array &argument : arguments)
    if (status.ok())
      status = SessionImpl::checkComputed(*SessionImpl::stateOf(argument));
  SK_RETURN_IF_ERROR(backend.agree(status));
  for (size_t i = 0; i < arguments.size(); ++i) {
    Status read = session_.readOnFirst(*SessionImpl::stateOf(arguments[i]), 0, memory_.argument(i));
    for (int p = 1; p < backend.processes(); ++p)
      if (Status sent = backend.process() == 0 || backend.process() == p
                            ? backend.transfer(0, p, memory_.argument(i), info_.arguments[i].globalBytes())
                            : Status();
          read.ok())
        read = sent;
    if (status.ok())
      status = read;
  }
  return backend.agree(status);
}

Status Counterpart::start(Bundle &bundle, ValueComparison &values) {
  SK_ASSIGN_OR_RETURN(sk_program program,
                      bundle.entry(info_, *info_.unsharded, info_.arguments.size(), info_.results.size()));
  return startThread(
      [this, program, &values] {
        setLibraryThreads(std::max(1, int(std::thread::hardware_concurrency()) / 2));
        const RankBuffers buffers = memory_.buffers();
        status_ = catchExceptions([&] {
          return Executor::call(program, 0, 1, buffers.arguments.data(), buffers.results.data(),
                                info_.unsharded->arenaBytes, &values);
        });
        values.endFull();
      },
      "the unsharded program", &thread_);
}

Status Counterpart::join() {
  if (thread_.joinable())
    thread_.join();
  return status_.withContext(what_.title() + ", unsharded");
}

} // namespace

int64_t ValueReport::numCompared() const {
  return std::count_if(differences.begin(), differences.end(), [](const auto &known) { return known.times > 0; });
}
int64_t ValueReport::numWrong() const {
  return std::count_if(differences.begin(), differences.end(), [](const auto &known) { return !known.isWithin; });
}

/// The largest relative error of the values that a value is computed from.
static double inputError(const ValueReport &report, const ProbeInfo &probe) {
  double largest = 0;
  for (int64_t input : probe.inputs)
    largest = std::max(largest, report.differences[size_t(input)].maxRel);
  return largest;
}

/// The values whose error is most above that of what they are computed from.
static std::vector<size_t> findGrowth(const ValueReport &report, size_t most) {
  std::vector<std::pair<double, size_t>> grown;
  for (size_t i = 0; i < report.differences.size(); ++i) {
    const double error = report.differences[i].maxRel, input = inputError(report, report.function->probes[i]);
    if (error > 1.5 * input)
      grown.emplace_back(input - error, i);
  }
  std::sort(grown.begin(), grown.end());
  std::vector<size_t> found;
  for (size_t k = 0; k < std::min(most, grown.size()); ++k)
    found.push_back(grown[k].second);
  std::sort(found.begin(), found.end());
  return found;
}

static std::string collectiveText(const CollectiveInfo &collective) {
  std::string axes;
  for (const std::string &axis : collective.axes)
    axes += (axes.empty() ? "" : ", ") + axis;
  return collective.kind + " #" + std::to_string(collective.id) + " {" + axes + "}";
}

/// What the first wrong value is, line by line.
static std::string describeFirst(const ValueReport &report) {
  const FunctionInfo &function = *report.function;
  const WrongValue &first = *report.first;
  const ProbeInfo &probe = function.probes[size_t(first.id)];
  std::string text = "first wrong value: " + describeValue(probe);
  const bool isRepeated = first.time > 0 || report.differences[size_t(first.id)].times > 1;
  if (isRepeated)
    text += ", time " + std::to_string(first.time + 1) + " that it is made";
  text += "\n";
  if (first.isMissing)
    return text + "  rank " + std::to_string(first.rank) +
           " makes it, the unsharded program does not: a loop or a branch goes another way\n";
  const WrongElements &wrong = first.elements;
  text += "  rank " + std::to_string(first.rank) + ", element " + listText(wrong.first) + " of " +
          shapeString(probe.value.globalShape) + " (" + listText(wrong.firstLocal) +
          " of its shard): " + numberText(wrong.mine) + ", unsharded " + numberText(wrong.theirs) + "\n";
  text += "  " + std::to_string(first.wrongElements) + " wrong elements on " + std::to_string(first.wrongRanks) +
          " of " + std::to_string(function.devices) + " ranks, on this one in " + blockText(wrong) +
          "; max abs error " + shortText(first.maxAbs) + ", accepted " + shortText(first.limit) + "\n";
  text += "  layout " + (probe.value.sharding.empty() ? std::string("replicated") : probe.value.sharding) + "\n";
  std::string inputs, through;
  for (int64_t input : probe.inputs)
    inputs += (inputs.empty() ? "" : ", ") + function.probes[size_t(input)].value.name;
  for (int64_t id : probe.collectives) {
    const CollectiveInfo &collective = function.collectives[size_t(id)];
    through += (through.empty() ? "" : ", ") + collectiveText(collective);
  }
  text += "  computed from " +
          (inputs.empty() ? std::string("arguments and constants") : inputs + ", which are right") +
          (through.empty() ? "; through no collective" : "; through " + through) + "\n";
  return text;
}

std::string ValueReport::text() const {
  const int64_t compared = numCompared(), wrong = numWrong();
  size_t worst = 0;
  for (size_t i = 0; i < differences.size(); ++i)
    if (differences[i].maxRel > differences[worst].maxRel)
      worst = i;
  std::string text = "values: " + std::to_string(compared) + " of " + std::to_string(differences.size()) +
                     " compared with the unsharded program, ";
  if (first)
    text += std::to_string(wrong) + " MISMATCH" + (wrong == 1 ? "" : "ES") + "\n" + describeFirst(*this);
  else if (differences.empty() || differences[worst].maxRel == 0)
    text += "all equal\n";
  else
    text += "all within tolerance, max rel error " + shortText(differences[worst].maxRel) + " of " +
            describeValue(function->probes[worst]) + "\n";
  const std::vector<size_t> grown = first ? std::vector<size_t>() : findGrowth(*this, 10);
  if (!grown.empty())
    text += "error grows at (max rel error, that of its inputs):\n";
  for (size_t i : grown) {
    char line[64];
    std::snprintf(line, sizeof line, "  %9.3g %9.3g  ", differences[i].maxRel, inputError(*this, function->probes[i]));
    text += line + describeValue(function->probes[i]) + "\n";
  }
  const auto elsewhere =
      std::count_if(differences.begin(), differences.end(), [](const auto &known) { return known.isPartlyElsewhere; });
  if (elsewhere > 0)
    text += "  " + std::to_string(elsewhere) +
            " partial values have terms in several processes and are compared where they are complete\n";
  for (const std::string &file : files)
    text += "wrote " + file + "\n";
  return text;
}

std::string ValueReport::json() const {
  auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(std::to_string(value)); };
  Json values = Json::array();
  for (size_t i = 0; i < differences.size(); ++i) {
    const ProbeInfo &probe = function->probes[i];
    const ProbeDifference &known = differences[i];
    values.push_back({{"name", probe.value.name},
                      {"op", probe.producer},
                      {"loc", probe.loc},
                      {"sharding", probe.value.sharding},
                      {"times", known.times},
                      {"max_abs", known.difference.maxAbs},
                      {"max_rel", known.maxRel},
                      {"max_rel_of_inputs", inputError(*this, probe)},
                      {"unequal", known.difference.unequal},
                      {"ok", known.isWithin}});
  }
  Json json = {{"text", text()},
               {"compared", numCompared()},
               {"wrong", numWrong()},
               {"values", std::move(values)},
               {"files", files}};
  if (!first)
    return json.dump(1, ' ', false, Json::error_handler_t::replace);
  const ProbeInfo &probe = function->probes[size_t(first->id)];
  Json inputs = Json::array(), through = Json::array();
  for (int64_t input : probe.inputs)
    inputs.push_back(function->probes[size_t(input)].value.name);
  for (int64_t id : probe.collectives) {
    const CollectiveInfo &collective = function->collectives[size_t(id)];
    through.push_back({{"id", id}, {"kind", collective.kind}, {"axes", collective.axes}, {"loc", collective.loc}});
  }
  json["first"] = {{"probe", first->id},
                   {"name", probe.value.name},
                   {"op", probe.producer},
                   {"loc", probe.loc},
                   {"time", first->time},
                   {"missing", first->isMissing},
                   {"rank", first->rank},
                   {"element", first->elements.first},
                   {"local_element", first->elements.firstLocal},
                   {"sharded", number(first->elements.mine)},
                   {"unsharded", number(first->elements.theirs)},
                   {"block", {first->elements.begin, first->elements.end}},
                   {"wrong_elements", first->wrongElements},
                   {"wrong_ranks", first->wrongRanks},
                   {"max_abs", number(first->maxAbs)},
                   {"accepted", number(first->limit)},
                   {"inputs", std::move(inputs)},
                   {"collectives", std::move(through)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Status checkValues(const Runnable &what, const CompareOptions &options) {
  const FunctionInfo &full = what.full();
  if (!full.unsharded)
    return invalid(what.title() + ": the bundle has no values to compare, compile with --with-values" +
                   (what.pipeline() ? " and without --pipeline" : ""));
  for (const std::string &name : options.watch) {
    if (!findProbes(full, name).empty())
      continue;
    std::vector<std::string> names;
    for (const ProbeInfo &probe : full.probes) {
      const auto [printed, given] = splitName(probe.value.name);
      names.push_back(printed);
      if (!given.empty())
        names.push_back(given);
    }
    return notFound(what.title() + " has no value '" + name + "' to watch, expected for instance " +
                    nearestNames(name, names) + ", or file:line");
  }
  return {};
}

/// Writes the values that are watched.
static void addWatch(const FunctionInfo &function, const CompareOptions &options, ComparisonOptions &comparison,
                     std::vector<std::string> &files) {
  for (const std::string &name : options.watch)
    for (int64_t id : findProbes(function, name))
      if (std::find(comparison.watched.begin(), comparison.watched.end(), id) == comparison.watched.end())
        comparison.watched.push_back(id);
  std::set<std::string> stems;
  std::vector<std::string> stemOf(function.probes.size());
  for (int64_t id : comparison.watched) {
    const auto [printed, given] = splitName(function.probes[size_t(id)].value.name);
    std::string stem = given.empty() ? printed : given;
    for (char &c : stem)
      if (c == '/' || c == '%' || c == '#' || c == ' ')
        c = c == '%' ? 'v' : '_';
    // Values of one location have one name.
    if (!stems.insert(stem).second)
      stem += "." + std::to_string(id);
    stemOf[size_t(id)] = std::move(stem);
  }
  comparison.watch = [&function, &files, directory = options.directory,
                      stemOf](int64_t id, int64_t time, const void *mine, const void *theirs) -> Status {
    const ValueInfo &value = function.probes[size_t(id)].value;
    const std::string path =
        (directory.empty() ? "" : directory + "/") + stemOf[size_t(id)] + (time > 0 ? "." + std::to_string(time) : "");
    for (auto [suffix, data] : {std::pair(".npy", mine), {".unsharded.npy", theirs}}) {
      SK_RETURN_IF_ERROR(writeNpy(path + suffix, TensorRef{value.name, value.dtype, value.globalShape, data}));
      files.push_back(path + suffix);
    }
    return {};
  };
}

Expected<std::vector<Array>> compareValues(Session &session, int number, const std::vector<Array> &given,
                                           const CompareOptions &options, const CallOptions &callOptions,
                                           ValueReport &report) {
  SK_RETURN_IF_ERROR(session.checkFunction(number));
  SessionImpl &impl = SessionImpl::of(session);
  SessionFunction &function = impl.functions[size_t(number)];
  const FunctionInfo &full = function.runnable.full();
  Backend &backend = *impl.backend;
  Status status = checkValues(function.runnable, options);
  if (status.ok() && !options.watch.empty() && backend.processes() > 1)
    status = invalid("values are written by one process, expected --backend=local with --watch");
  if (status.ok() && given.size() > full.arguments.size())
    status = invalid(function.title() + ": " + std::to_string(given.size()) + " arguments, expected at most " +
                     std::to_string(full.arguments.size()));
  std::vector<Array> arguments;
  for (size_t i = 0; i < full.arguments.size() && status.ok(); ++i) {
    std::lock_guard lock(impl.mutex);
    const ArgumentSlot &slot = impl.slots[function.slots[i]];
    arguments.push_back(i < given.size() && given[i] ? given[i] : slot.kept ? slot.kept->array : slot.array);
    if (!arguments.back())
      status = invalid("argument '" + slot.name + "' of " + function.title() + " is neither given nor bound");
    else
      status = impl.check(arguments.back(), "compare values");
  }
  SK_RETURN_IF_ERROR(backend.agree(status));

  ComparisonOptions comparison;
  comparison.exact = options.exact;
  comparison.rtol = options.rtol;
  comparison.atol = options.atol;
  std::vector<std::string> files;
  if (!options.watch.empty())
    addWatch(full, options, comparison, files);
  const auto ranks = backend.localRanks(function.runnable.devices());
  ValueComparison values(full, ranks, comparison);
  Counterpart counterpart(impl, function);
  SK_RETURN_IF_ERROR(impl.inTurn([&] { return counterpart.load(arguments); }));
  if (ranks.first < ranks.second)
    status = counterpart.start(*impl.bundles[function.bundle], values);
  else
    values.endFull();
  if (status = backend.agree(status); !status.ok()) {
    values.endRanks();
    (void)counterpart.join();
    return status;
  }
  CallOptions call = callOptions;
  call.values = &values;
  call.isAsync = false;
  auto results = session.call(number, given, call);
  values.endRanks();
  status = counterpart.join();
  SK_RETURN_IF_ERROR(results.status());
  SK_RETURN_IF_ERROR(backend.agree(status));
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend.exchange(pack(values, files)));
  report = {};
  report.function = &full;
  report.differences.resize(full.probes.size());
  for (const std::string &one : all)
    merge(one, report);
  return results;
}

} // namespace shardkit::rt
