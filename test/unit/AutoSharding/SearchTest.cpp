//===- SearchTest.cpp - Searches of small programs against enumeration ----===//
//
// Random programs of contractions, elementwise ops and transposes, on meshes of one to three
// axes, with constraints, values of several readers, and memory budgets. Their choices are thinned at
// random, and all remaining ones are priced one by one: reshards shared as insert-reshards
// shares them, peaks as in the program.
//
//===----------------------------------------------------------------------===//

#include "RandomGraphs.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/InitAllDialects.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::spmd;
using namespace shardkit_test;

namespace {
struct ProgramOptions {
  std::vector<int64_t> axes; // sizes
  unsigned contractions;
  unsigned others;
};

/// A function of 2-D tensors as text.
std::string makeProgram(Random &random, const ProgramOptions &options) {
  static const char *names[] = {"x", "y", "z"};
  std::string mesh, body, arguments;
  for (auto [i, size] : llvm::enumerate(options.axes))
    mesh += (i ? ", \"" : "\"") + std::string(names[i]) + "\"=" + std::to_string(size);
  struct Known {
    std::string name;
    int64_t rows, columns;
  };
  std::vector<Known> values;
  auto type = [](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  // A closed dim, an open one, one that is cut: at most one of each axis.
  auto pin = [&] {
    if (!random.chance(0.3))
      return std::string();
    std::string dims, axis = names[random.below(int64_t(options.axes.size()))];
    int64_t cut = random.below(3);
    for (int64_t d = 0; d < 2; ++d) {
      bool open = random.chance(0.5);
      dims += std::string(d ? ", {" : "{") + (d == cut ? "\"" + axis + "\"" : "");
      dims += open ? (d == cut ? ", ?}" : "?}") : "}";
    }
    return " {spmd.sharding = #spmd.sharding<@mesh, [" + dims + "]>}";
  };
  static const int64_t kSizes[] = {8, 16, 24, 64};
  auto addArgument = [&](int64_t rows, int64_t columns) {
    std::string name = "%a" + std::to_string(values.size());
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + type(rows, columns) + pin();
    values.push_back({name, rows, columns});
    return values.size() - 1;
  };
  auto pick = [&] { return size_t(random.below(int64_t(values.size()))); };
  addArgument(kSizes[random.below(4)], kSizes[random.below(4)]);
  unsigned next = 0;
  auto add = [&](std::string op, int64_t rows, int64_t columns) {
    std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " = " + op + "\n";
    values.push_back({name, rows, columns});
  };
  unsigned contractions = options.contractions, others = options.others;
  while (contractions + others > 0) {
    bool contract = random.below(contractions + others) < contractions;
    Known a = values[pick()];
    if (contract) {
      --contractions;
      // What there is, where it fits: values with several readers.
      std::vector<size_t> fits;
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i].rows == a.columns)
          fits.push_back(i);
      Known b = values[!fits.empty() && random.chance(0.7) ? fits[random.below(int64_t(fits.size()))]
                                                           : addArgument(a.columns, kSizes[random.below(4)])];
      std::string result = type(a.rows, b.columns), out = "%o" + std::to_string(next);
      body += "  " + out + "e = tensor.empty() : " + result + "\n";
      body += "  " + out + " = linalg.fill ins(%zero : f32) outs(" + out + "e : " + result + ") -> " + result + "\n";
      add("linalg.matmul ins(" + a.name + ", " + b.name + " : " + type(a.rows, a.columns) + ", " +
              type(b.rows, b.columns) + ") outs(" + out + " : " + result + ") -> " + result,
          a.rows, b.columns);
      continue;
    }
    --others;
    if (random.chance(0.4)) {
      std::string result = type(a.columns, a.rows), out = "%o" + std::to_string(next);
      body += "  " + out + " = tensor.empty() : " + result + "\n";
      add("linalg.transpose ins(" + a.name + " : " + type(a.rows, a.columns) + ") outs(" + out + " : " + result +
              ") permutation = [1, 0]",
          a.columns, a.rows);
      continue;
    }
    std::vector<size_t> fits;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i].rows == a.rows && values[i].columns == a.columns)
        fits.push_back(i);
    Known b = values[fits[random.below(int64_t(fits.size()))]];
    add("arith.addf " + a.name + ", " + b.name + " : " + type(a.rows, a.columns), a.rows, a.columns);
  }
  Known result = values.back();
  std::string returned = type(result.rows, result.columns), given = pin();
  return "spmd.mesh @mesh = <[" + mesh + "]> {alpha = [" +
         [&] {
           std::string list;
           for (size_t i = 0; i < options.axes.size(); ++i)
             list += (i ? ", " : "") + std::to_string(1 + random.below(3)) + ".0";
           return list;
         }() +
         "], beta = [" +
         [&] {
           std::string list;
           for (size_t i = 0; i < options.axes.size(); ++i)
             list += (i ? ", 0." : "0.") + std::to_string(1 + random.below(4));
           return list;
         }() +
         "]}\nfunc.func @f(" + arguments + ") -> (" + returned + given + ") {\n  %zero = arith.constant 0.0 : f32\n" +
         body + "  return " + result.name + " : " + returned + "\n}\n";
}

/// The cheapest of all choices that are allowed, by the prices of the program itself.
struct Cheapest {
  double seconds = std::numeric_limits<double>::infinity();
  int64_t leastPeak = std::numeric_limits<int64_t>::max();
};

class SearchTest : public ::testing::Test {
protected:
  SearchTest() {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::spmd::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  void search(const std::string &text, const SearchOptions &options, llvm::function_ref<void(FunctionSearch &)> check) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    bool called = false;
    (void)searchModule(*module, options, [&](FunctionSearch &search, CallOperandLayouts &) {
      called = true;
      check(search);
      return failure(); // nothing has to be written
    });
    ASSERT_TRUE(called) << text;
  }

  MLIRContext context;
};
} // namespace

/// How many programs: SHARDKIT_SEARCH_PROGRAMS, of all sizes then, or few small ones.
static const char *getRequested() { return std::getenv("SHARDKIT_SEARCH_PROGRAMS"); }
static unsigned getCount(unsigned usual) { return getRequested() ? std::max(1, std::atoi(getRequested())) : usual; }

static const std::vector<std::vector<int64_t>> kMeshes = {{2}, {4}, {2, 2}, {2, 4}, {4, 2}, {2, 2, 2}};

TEST_F(SearchTest, FindsTheCheapestOfAllThinnedChoices) {
  unsigned shared = 0, costly = 0, within = 0, equal = 0, impossible = 0, found = 0, perUse = 0, above = 0;
  for (unsigned i = 0, count = getCount(90); i < count; ++i) {
    SCOPED_TRACE(i);
    Random random(70000 + i);
    ProgramOptions programOptions{kMeshes[i % kMeshes.size()], unsigned(1 + random.below(3)),
                                  unsigned(random.below(4))};
    std::string text = makeProgram(random, programOptions);
    SearchOptions options;
    options.gap = 0;
    bool limits = i % 3 == 0;
    if (limits)
      options.memoryBudget = int64_t(1) << 40; // so that buffers are known
    // As many as may be left, mostly few.
    double most = std::pow(10, 1 + 0.01 * random.below(getRequested() ? 430 : 250));
    double peakShare = 0.01 * random.below(100);
    std::vector<Requirement> thinned;
    Cheapest cheapest;
    int64_t budget = 0;
    auto thin = [&](FunctionSearch &search) {
      Propagation &propagation = search.getFunction().getPropagation();
      ShardingProblem &problem = search.getProblem();
      // Which choices of which variable stay.
      const CostGraph &graph = problem.getGraph();
      unsigned n = problem.getNumDecisions();
      std::vector<unsigned> choices(graph.getNumVariables(), 0);
      // A layout that is not allowed is so for all equal ones, hence by layout and by axes.
      std::vector<std::vector<bool>> allowed(n);
      double product = 1;
      for (unsigned v = 0; v < n; ++v) {
        allowed[v].assign(graph.getNumChoices(v), true);
        product *= graph.getNumChoices(v);
      }
      for (unsigned tries = 0; product > most && tries < 100000; ++tries) {
        unsigned v = random.below(n);
        size_t left = llvm::count(allowed[v], true);
        unsigned c = random.below(allowed[v].size());
        if (left <= 1 || !allowed[v][c])
          continue;
        allowed[v][c] = false;
        product = product / left * (left - 1);
      }
      ASSERT_LE(product, 200000);
      // Places and nodes by their variables: which one a choice changes.
      auto getVariable = [&](auto changes) {
        for (unsigned v = 0; v < n; ++v) {
          if (graph.getNumChoices(v) < 2)
            continue;
          std::vector<unsigned> other = choices;
          other[v] = 1;
          if (changes(other))
            return v;
        }
        return n;
      };
      for (unsigned valueClass = 0; valueClass < propagation.getNumClasses(); ++valueClass) {
        ArrayRef<LayoutId> domain = problem.getDomain(valueClass);
        unsigned v = getVariable([&](ArrayRef<unsigned> other) {
          return domain.size() > 1 && problem.getLayout(valueClass, other) != domain[0];
        });
        if (v == n || !llvm::is_contained(allowed[v], false))
          continue;
        std::vector<LayoutId> kept;
        for (unsigned c = 0; c < domain.size(); ++c)
          if (allowed[v][c])
            kept.push_back(domain[c]);
        for (unsigned c = 0; c < domain.size(); ++c)
          allowed[v][c] = llvm::is_contained(kept, domain[c]);
        thinned.emplace_back(valueClass, [kept](LayoutId id) {
          return llvm::is_contained(kept, id) ? 0.0 : std::numeric_limits<double>::infinity();
        });
      }
      for (unsigned node = 0; node < propagation.getNumNodes(); ++node) {
        ArrayRef<FactorAxes> strategies = problem.getStrategies(node);
        unsigned v = getVariable([&](ArrayRef<unsigned> other) {
          return strategies.size() > 1 && *problem.getStrategy(node, other) == strategies[1];
        });
        if (v == n || !llvm::is_contained(allowed[v], false))
          continue;
        std::vector<FactorAxes> kept;
        for (unsigned c = 0; c < strategies.size(); ++c)
          if (allowed[v][c])
            kept.push_back(strategies[c]);
        thinned.push_back(Requirement::ofNode(node, [kept](const FactorAxes &axes) {
          return llvm::is_contained(kept, axes) ? 0.0 : std::numeric_limits<double>::infinity();
        }));
      }
      // All that is left, twice where peaks decide what the budget is.
      auto forEach = [&](auto callback) {
        std::vector<std::vector<unsigned>> left(n);
        for (unsigned v = 0; v < n; ++v)
          for (unsigned c = 0; c < allowed[v].size(); ++c)
            if (allowed[v][c])
              left[v].push_back(c);
        std::vector<unsigned> at(n, 0);
        while (true) {
          for (unsigned v = 0; v < n; ++v)
            choices[v] = left[v][at[v]];
          if (problem.getSeconds(choices) < std::numeric_limits<double>::infinity())
            callback();
          unsigned v = 0;
          for (; v < n && ++at[v] == left[v].size(); ++v)
            at[v] = 0;
          if (v == n)
            break;
        }
      };
      int64_t freePeak = 0;
      forEach([&] {
        double seconds = problem.getSeconds(choices);
        int64_t peak = limits ? problem.scheduleCopies(choices).peak : 0;
        if (seconds < cheapest.seconds || (seconds == cheapest.seconds && peak < freePeak))
          freePeak = peak;
        cheapest.seconds = std::min(cheapest.seconds, seconds);
        if (!limits)
          return;
        // Where nothing is held from reader to reader.
        int64_t least = problem.scheduleCopies(choices, 0).peak;
        EXPECT_LE(least, peak);
        cheapest.leastPeak = std::min(cheapest.leastPeak, least);
      });
      if (limits && cheapest.seconds < std::numeric_limits<double>::infinity()) {
        budget = cheapest.leastPeak + int64_t(peakShare * double(freePeak - cheapest.leastPeak));
        cheapest.seconds = std::numeric_limits<double>::infinity();
        forEach([&] {
          auto copies = problem.scheduleCopies(choices, budget);
          if (copies.peak <= budget)
            cheapest.seconds = std::min(cheapest.seconds, problem.getSeconds(choices, copies.perUse));
        });
      }
    };
    search(text, options, thin);
    if (HasFatalFailure())
      return;
    if (limits && budget > 0)
      options.memoryBudget = budget;
    search(text, options, [&](FunctionSearch &search) {
      SearchResult result = search.run(thinned);
      if (cheapest.seconds == std::numeric_limits<double>::infinity()) {
        ++impossible;
        EXPECT_TRUE(result.choices.empty()) << text;
        return;
      }
      double tolerance = 1e-9 * std::max(cheapest.seconds, 1e-9);
      if (limits) {
        // The graph counts what is shared from the first reader of the value to the last; copies are
        // held from any reader to the next: there may be something cheaper.
        ++within;
        costly += cheapest.seconds > 0;
        // What the graph counts is never too little.
        ShardingProblem &problem = search.getProblem();
        ArrayRef<unsigned> last = result.last.choices;
        if (last.size() == problem.getGraph().getNumVariables())
          EXPECT_GE(problem.getGraph().getPeak(last), problem.scheduleCopies(last, 0).peak) << text;
        above += result.lowerBound > cheapest.seconds + tolerance;
        if (result.choices.empty())
          return;
        ++found;
        perUse += !result.perUse.empty();
        EXPECT_LE(problem.scheduleCopies(result.choices, budget).peak, budget) << text;
        EXPECT_NEAR(result.objective, problem.getSeconds(result.choices, result.perUse), tolerance) << text;
        EXPECT_GE(result.objective, cheapest.seconds - tolerance) << text;
        equal += result.objective <= cheapest.seconds + tolerance;
        return;
      }
      ASSERT_FALSE(result.choices.empty()) << text;
      EXPECT_TRUE(result.proven) << text;
      // On three axes the search supposes that sums are completed before they move.
      if (programOptions.axes.size() > 2) {
        EXPECT_GE(result.objective, cheapest.seconds - tolerance) << text;
        equal += result.objective <= cheapest.seconds + tolerance;
        ++within;
        return;
      }
      EXPECT_LE(result.lowerBound, cheapest.seconds + tolerance) << text;
      EXPECT_NEAR(result.objective, cheapest.seconds, tolerance) << text;
      shared += search.getProblem().getNumDecisions() < search.getProblem().getGraph().getNumVariables();
      costly += cheapest.seconds > 0;
    });
  }
  EXPECT_GT(shared, 10u);
  EXPECT_GT(costly, 20u);
  EXPECT_GT(equal, within / 2);
  EXPECT_GT(perUse, 0u);
  std::printf(
      "%u share, %u cost something, %u of %u the cheapest within a budget or on three axes, %u found in it, %u with copies "
      "made anew, %u with a bound above what is possible, %u impossible\n",
      shared, costly, equal, within, found, perUse, above, impossible);
}

TEST_F(SearchTest, CbcFindsNothingCheaper) {
  std::string error;
  solveWithCbc(CostGraph(), {}, error);
  if (!error.empty())
    GTEST_SKIP() << error;
  unsigned compared = 0;
  for (unsigned i = 0, count = getCount(40); i < count; ++i) {
    SCOPED_TRACE(i);
    Random random(90000 + i);
    // Its programs grow with the squares of the choices.
    bool isFlat = i % 4 != 3;
    ProgramOptions programOptions{isFlat ? std::vector<int64_t>{int64_t(2) << random.below(3)}
                                         : std::vector<int64_t>{2, 2},
                                  unsigned(isFlat ? 1 + random.below(8) : 1), unsigned(random.below(4))};
    std::string text = makeProgram(random, programOptions);
    double objectives[2];
    for (bool withCbc : {false, true}) {
      SearchOptions options;
      options.withCbc = withCbc;
      search(text, options, [&](FunctionSearch &search) {
        SearchResult result = search.run();
        ASSERT_FALSE(result.choices.empty()) << text;
        EXPECT_TRUE(result.proven) << text;
        objectives[withCbc] = result.objective;
      });
      if (HasFatalFailure())
        return;
    }
    EXPECT_NEAR(objectives[0], objectives[1], 1e-6 * std::max(objectives[0], 1e-9)) << text;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}
