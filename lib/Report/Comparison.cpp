//===- Comparison.cpp - A report against an earlier one -------------------===//

#include "shardkit/Report/Comparison.h"
#include "shardkit/Report/Report.h"
#include "shardkit/Support/LocatedJson.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

template <typename K, typename V> using OrderedMap = llvm::MapVector<K, V, std::map<K, unsigned>>;

/// The compared content of a report in JSON.
class ReportReader : JsonFile {
public:
  using JsonFile::JsonFile;

  FailureOr<Report> read() {
    LocatedJson root;
    if (failed(parse(root, "report")))
      return failure();
    const LocatedJson *version = root.find("version");
    if (!version || version->kind != LocatedJson::Integer || version->integer != 1)
      return emitError(version ? version->offset : root.offset)
             << "\"version\" is " << (version ? describe(*version) : "missing")
             << ", expected 1, as --spmd-report=format=json writes it";
    Report report(UnknownLoc::get(context));
    LogicalResult result = forEach(root, "functions", [&](const LocatedJson &each) {
      ReportFunction &function = report.functions.emplace_back();
      function.calls = each.find("calls") != nullptr;
      return success(succeeded(text(each, "name", function.name)) &&
                     succeeded(readValues(each, "arguments", function.arguments)) &&
                     succeeded(readValues(each, "results", function.results)));
    });
    if (failed(result) || failed(readCollectives(root, report)) || failed(readTotals(root, report)) ||
        failed(readMemory(root, report)) || failed(readSearches(root, report)))
      return failure();
    return report;
  }

private:
  /// The member of an object, if it has this kind; Real includes integers.
  const LocatedJson *get(const LocatedJson &object, StringRef key, LocatedJson::Kind kind, StringRef expected) {
    const LocatedJson *member = object.kind == LocatedJson::Object ? object.find(key) : nullptr;
    if (member && (member->kind == kind || (kind == LocatedJson::Real && member->isNumber())))
      return member;
    emitError(member ? member->offset : object.offset)
        << "\"" << key << "\" is " << (member ? describe(*member) : "missing") << ", expected " << expected;
    return nullptr;
  }
  LogicalResult text(const LocatedJson &object, StringRef key, std::string &out) {
    const LocatedJson *member = get(object, key, LocatedJson::String, "a text");
    if (member)
      out = member->text;
    return success(member);
  }
  LogicalResult number(const LocatedJson &object, StringRef key, int64_t &out) {
    const LocatedJson *member = get(object, key, LocatedJson::Integer, "an integer");
    if (member)
      out = member->integer;
    return success(member);
  }
  LogicalResult number(const LocatedJson &object, StringRef key, double &out) {
    const LocatedJson *member = get(object, key, LocatedJson::Real, "a number");
    if (member)
      out = member->real;
    return success(member);
  }
  LogicalResult forEach(const LocatedJson &object, StringRef key,
                        llvm::function_ref<LogicalResult(const LocatedJson &)> read) {
    const LocatedJson *list = get(object, key, LocatedJson::Array, "a list");
    return success(list && llvm::all_of(list->items, [&](const LocatedJson &each) { return succeeded(read(each)); }));
  }

  LogicalResult readValues(const LocatedJson &function, StringRef key, std::vector<ReportValue> &values) {
    return forEach(function, key, [&](const LocatedJson &each) {
      ReportValue &value = values.emplace_back();
      return success(succeeded(text(each, "name", value.name)) && succeeded(text(each, "sharding", value.sharding)));
    });
  }

  LogicalResult readCollectives(const LocatedJson &root, Report &report) {
    return forEach(root, "collectives", [&](const LocatedJson &each) -> LogicalResult {
      ReportCollective &c = report.collectives.emplace_back(UnknownLoc::get(context));
      if (failed(text(each, "function", c.function)) || failed(text(each, "kind", c.kind)) ||
          failed(number(each, "bytes", c.bytes)) || failed(number(each, "count", c.count)) ||
          failed(text(each, "loc", c.loc)) || (each.find("reduction") && failed(text(each, "reduction", c.reduction))))
        return failure();
      return forEach(each, "axes", [&](const LocatedJson &axis) -> LogicalResult {
        if (!axis.isString())
          return emitError(axis.offset) << "an axis is " << describe(axis) << ", expected a name";
        c.axes.push_back(axis.text);
        return success();
      });
    });
  }

  LogicalResult readTotals(const LocatedJson &root, Report &report) {
    const LocatedJson *totals = get(root, "totals", LocatedJson::Object, "an object");
    if (!totals || failed(number(*totals, "cost", report.totalCost)))
      return failure();
    report.launches = -1;
    if (totals->find("launches") && failed(number(*totals, "launches", report.launches)))
      return failure();
    std::pair<StringRef, std::map<std::string, int64_t> *> lists[] = {{"bytes_by_kind", &report.bytesByKind},
                                                                      {"bytes_by_axis", &report.bytesByAxis}};
    for (auto [key, bytes] : lists) {
      const LocatedJson *object = get(*totals, key, LocatedJson::Object, "an object");
      if (!object)
        return failure();
      for (const LocatedJson::Member &member : object->members)
        if (failed(number(*object, member.key, (*bytes)[member.key])))
          return failure();
    }
    return success();
  }

  LogicalResult readMemory(const LocatedJson &root, Report &report) {
    const LocatedJson *memory = get(root, "memory", LocatedJson::Object, "an object");
    return success(memory && succeeded(forEach(*memory, "functions", [&](const LocatedJson &each) {
                     report.memory.push_back({{}, 0, 0, {}, {}, UnknownLoc::get(context), {}, 0, {}});
                     FunctionMemory &function = report.memory.back();
                     return success(succeeded(text(each, "name", function.function)) &&
                                    succeeded(number(each, "peak_bytes", function.peakBytes)));
                   })));
  }

  LogicalResult readSearches(const LocatedJson &root, Report &report) {
    const LocatedJson *solver = root.find("solver");
    if (!solver)
      return success();
    return forEach(*solver, "functions", [&](const LocatedJson &each) {
      ReportSolver &search = report.solver.emplace_back(UnknownLoc::get(context));
      return success(succeeded(text(each, "name", search.function)) &&
                     succeeded(number(each, "objective", search.objective)));
    });
  }
};

/// The figures of two reports, in the order of their first appearance.
class Figures {
public:
  void addReport(const Report &report, std::optional<double> ComparedFigure::*side) {
    auto add = [&](std::string what, const char *unit, double value) {
      ComparedFigure &figure = figures[what];
      figure.what = what;
      figure.unit = unit;
      figure.*side = value;
    };
    add("predicted time", "s", report.totalCost);
    if (report.launches >= 0)
      add("launches", "", double(report.launches));
    for (const ReportSolver &search : report.solver)
      add("objective of @" + search.function, "s", search.objective);
    for (const FunctionMemory &memory : report.memory)
      add("peak of @" + memory.function, "B", double(memory.peakBytes));
    for (auto &[kind, bytes] : report.bytesByKind)
      add(kind, "B", double(bytes));
    for (auto &[axis, bytes] : report.bytesByAxis)
      add("on {" + axis + "}", "B", double(bytes));
  }
  std::vector<ComparedFigure> take() {
    std::vector<ComparedFigure> list;
    for (auto &[what, figure] : figures)
      list.push_back(std::move(figure));
    return list;
  }

private:
  OrderedMap<std::string, ComparedFigure> figures;
};

} // namespace

static std::vector<ComparedLayout> compareLayouts(const Report &before, const Report &now) {
  // An argument and a result can have the same name.
  OrderedMap<std::tuple<std::string, bool, std::string>, ComparedLayout> layouts;
  auto add = [&](const Report &report, std::string ComparedLayout::*side) {
    for (const ReportFunction &function : report.functions) {
      if (function.calls > 0) // a copy per signature
        continue;
      for (bool isResult : {false, true})
        for (const ReportValue &value : isResult ? function.results : function.arguments) {
          ComparedLayout &layout = layouts[{function.name, isResult, value.name}];
          layout.function = function.name;
          layout.value = value.name;
          layout.*side = value.sharding.empty() ? "replicated" : value.sharding;
        }
    }
  };
  add(now, &ComparedLayout::now);
  add(before, &ComparedLayout::before);
  std::vector<ComparedLayout> list;
  for (auto &[name, layout] : layouts)
    if (layout.before != layout.now)
      list.push_back(std::move(layout));
  return list;
}

/// Collectives that one report has more often than the other one. They are matched by
/// line first, then across lines, as the program may have moved.
static void compareCollectives(const Report &before, const Report &now, Comparison &comparison) {
  using Kind = std::tuple<std::string, std::string, int64_t>; // function, text, bytes
  OrderedMap<std::pair<Kind, std::string>, int64_t> counts;   // at a line; more than before
  auto add = [&](const Report &report, int64_t sign) {
    for (const ReportCollective &c : report.collectives) {
      std::string text = c.kind + (c.reduction.empty() ? "" : " " + c.reduction) + " {" + llvm::join(c.axes, ",") + "}";
      counts[{{c.function, text, c.bytes}, c.loc}] += sign * c.count;
    }
  };
  add(before, -1);
  add(now, 1);
  OrderedMap<Kind, std::pair<int64_t, int64_t>> moved; // gone and new
  for (auto &[key, count] : counts)
    (count < 0 ? moved[key.first].first : moved[key.first].second) += std::abs(count);
  for (auto &[kind, both] : moved)
    both.first = both.second = std::min(both.first, both.second);
  for (auto &[key, count] : counts) {
    int64_t &same = count < 0 ? moved[key.first].first : moved[key.first].second;
    int64_t cancelled = std::min(same, std::abs(count));
    same -= cancelled;
    auto &[function, text, bytes] = key.first;
    if (int64_t left = std::abs(count) - cancelled)
      (count < 0 ? comparison.gone : comparison.added).push_back({function, text, key.second, bytes, left});
  }
}

FailureOr<Comparison> spmd::compareReport(const Report &report, StringRef path, Location loc) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitError(loc) << "cannot read " << path << ": " << buffer.getError().message();
  FailureOr<Report> before = ReportReader((*buffer)->getBuffer(), path, loc.getContext()).read();
  if (failed(before))
    return failure();
  Figures figures;
  figures.addReport(report, &ComparedFigure::now);
  figures.addReport(*before, &ComparedFigure::before);
  Comparison comparison{path.str(), figures.take(), compareLayouts(*before, report), {}, {}};
  compareCollectives(*before, report, comparison);
  return comparison;
}

std::string spmd::getChangeText(const ComparedFigure &figure) {
  if (!figure.before || !figure.now)
    return figure.now ? "new" : "gone";
  if (*figure.before == *figure.now)
    return "same";
  if (*figure.before == 0)
    return "new";
  double percent = 100 * (*figure.now / *figure.before - 1);
  return llvm::formatv("{0}{1:F1} %", percent > 0 ? "+" : "", percent).str();
}
