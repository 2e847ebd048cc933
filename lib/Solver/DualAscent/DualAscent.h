//===- DualAscent.h - A lower bound by moving costs -------------*- C++ -*-===//
//
// Costs may be moved from pairs to their variables and back without changing the price
// of any solution. The sum of the least entries of all tables is a lower bound;
// sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) moves costs such
// that it grows. An entry of a table that exceeds its minimum by more than the optimality gap
// excludes a choice. A sharing is one table over all its readers. Its costs are moved in the same way
// (Kolmogorov 2015, on terms of higher order), and its minimal sums are computed without listing it
// (SharingSums.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_SOLVER_DUALASCENT_DUALASCENT_H
#define SHARDKIT_LIB_SOLVER_DUALASCENT_DUALASCENT_H

#include "../Problem.h"
#include "../Support/Clock.h"
#include "../Support/StepSchedule.h"
#include "SharingSums.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <tuple>

namespace mlir::spmd::solver {

/// The tables with moved costs, in integers: prices are exactly the same, and no entry is below 0
/// after `bound` is subtracted.
struct MovedCosts {
  bool impossible = false;
  int64_t bound = 0;
  // The remaining costs of a variable; variables to entries.
  std::vector<std::vector<int64_t>> unary;
  std::vector<unsigned> unaryOf;
  // The shifts of the table of an edge by row and by column, minus its minimum; edges to entries.
  std::vector<std::vector<int64_t>> shifts;
  std::vector<unsigned> pairOf;
  // The shifts of a sharing by choices of the host, then of the readers, minus its minimal sum; sharings to entries.
  std::vector<std::vector<int64_t>> sharedShifts;
  std::vector<unsigned> sharedOf;
  // A lower bound of the excess of a choice over the bound; variables to entries.
  std::vector<std::vector<int64_t>> excess;
  std::vector<unsigned> sumOf;

  /// `maximum`, halved until at most so many choices per variable, on average, have no larger excess.
  int64_t getNear(int64_t maximum, unsigned choices) const;
};

/// Groups of choices, each of which counts as one choice: numbers of groups by choice.
struct ChoiceGroups {
  static constexpr unsigned kNone = ~0u; // group of an excluded choice
  std::vector<unsigned> of;
  std::vector<llvm::SmallVector<unsigned, 1>> members; // by group

  /// Adds a choice to an existing group, or to the next new one.
  void add(unsigned choice, unsigned group);
  /// Moves choices to new groups: those of one group to one new group.
  void split(llvm::ArrayRef<unsigned> choices);
};

/// A problem whose choices are groups of choices: each price is the minimum of theirs.
struct RestrictedProblem {
  Problem problem; // all variables, then one per sharing; without buffers
  std::vector<ChoiceGroups> groups;
  std::vector<unsigned> groupsOf; // variables to entries of `groups`
  bool impossible = false;
  /// True if the sharings are too large to list, or take too long: there is no problem.
  bool isTooLarge = false;
};

/// Message passing over a problem, whose variables are visited in a given order.
///
///   variables v, w with an edge {{0, 4}, {4, 2}}, prices of v {3, 0}, of w {0, 0}
///   1. v gives its prices to the edge: {{3, 7}, {4, 2}}.
///   2. The edge gives its column minima {3, 2} to w: the bound is 2, and choice 0 of w exceeds it by 1.
class DualAscent {
public:
  /// Messages are rounded, the bound is not (see move): single precision only makes passes faster.
  using Real = float;

  /// `order`: the order of visits. `clock`: after it is over, every restriction is too large.
  DualAscent(const Problem &problem, llvm::ArrayRef<unsigned> order, TablePool &pool, const Clock &clock);

  /// Other tables of the same sizes: those of the variables (kNoTable: zeros), then those
  /// of the edges. `big` represents impossible prices: it exceeds the price of any wanted solution.
  void setTables(llvm::ArrayRef<TableId> tables, double big);
  /// One pass forward and one backward. Variables with equal neighborhoods (up to a radius in links) share their
  /// messages: repeated layers cost as much as a few of them.
  void iterate();
  /// Separates all variables, which continue from their shared messages; false if all are separate already.
  bool refine();
  bool isFinest() const { return finest; }
  /// Separates all variables and starts again.
  void restart();
  /// Entries that an iteration visits.
  double getPassEntries() const { return passEntries; }
  /// Replaces choices of kNoVar by the best ones of the messages, one variable after the other, then improves all one
  /// by one. False if the result is impossible.
  bool decode(llvm::MutableArrayRef<unsigned> choices) const;
  /// Changes choices one by one while that improves the price. False if the result is impossible.
  bool improve(llvm::MutableArrayRef<unsigned> choices) const;

  using Moved = MovedCosts;
  using Groups = ChoiceGroups;
  using Restricted = RestrictedProblem;

  Moved move() const;

  /// The problem without the choices and pairs that add more than `slack` to the bound:
  /// all solutions within bound + slack, and maybe others. Bytes are those of the tables, or
  /// none; tables are made in a pool of their own.
  Restricted restrict(const Moved &moved, int64_t slack, bool withBytes, TablePool &to) const;
  /// The same with only the choices that add at most `near`, and those of solutions of equal variables.
  Restricted restrictTo(llvm::ArrayRef<std::vector<unsigned>> solutions, const Moved &moved, int64_t near,
                        int64_t slack, TablePool &to) const;
  /// The same with groups of choices, by entries of `Moved::sumOf`: a lower bound of solutions within the slack (domain
  /// abstraction). Without sharings.
  Restricted abstract(llvm::ArrayRef<Groups> groups, const Moved &moved, int64_t slack, bool withBytes,
                      TablePool &to) const;
  /// Splits the groups of several choices in a solution of it. False if there are none.
  bool split(llvm::ArrayRef<unsigned> solution, const Restricted &abstracted, const Moved &moved,
             llvm::MutableArrayRef<Groups> groups) const;
  /// Whether the tables of the restriction have at most `maximum` entries.
  bool isAtMost(const Moved &moved, int64_t slack, double maximum) const;

private:
  struct Link {
    unsigned to, edge;
    bool forward;       // `to` comes later
    size_t message = 0; // offset of the message from `to` to the variable of the link
    size_t back = 0;    // and the one the other way
  };
  /// A variable as a member of a sharing: the host, or a reader.
  struct Member {
    unsigned sharing, slot;    // 0: host, 1 + reader
    bool hasLater, hasEarlier; // whether other members come later, or earlier
    size_t message = 0;        // offset of its received and sent messages
  };
  llvm::ArrayRef<Member> getMembers(unsigned v) const {
    return llvm::ArrayRef(members).slice(memberBegin[v], memberBegin[v + 1] - memberBegin[v]);
  }
  unsigned getMember(const Problem::Sharing &sharing, unsigned slot) const {
    return slot == 0 ? sharing.host : sharing.readers[slot - 1].first;
  }
  /// The first position of a member.
  unsigned getEarliest(const Problem::Sharing &sharing) const {
    unsigned earliest = position[sharing.host];
    for (auto &[v, items] : sharing.readers)
      earliest = std::min(earliest, position[v]);
    return earliest;
  }
  /// The offset of a member in lists of the choices of all members.
  size_t getOffset(const Member &member) const {
    size_t offset = 0;
    for (unsigned slot = 0; slot < member.slot; ++slot)
      offset += problem.sizes[getMember(problem.sharings[member.sharing], slot)];
    return offset;
  }
  bool moveSharings(llvm::ArrayRef<std::vector<int64_t>> give, Moved &result,
                    std::vector<std::vector<int64_t>> &allMinima) const;
  /// The shifts of one, what choices of its members cost there at least, less the least of all, and that.
  std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>
  moveSharing(unsigned i, llvm::ArrayRef<std::vector<int64_t>> give, llvm::ArrayRef<unsigned> unaryOf) const;
  struct SharedSet;
  struct SharedPrices;
  struct SharedTables;
  SharedPrices getSharedPrices(unsigned number, const Moved &moved, llvm::ArrayRef<Groups> groups) const;
  static bool listSets(const SharedPrices &prices, int64_t slack, std::vector<SharedSet> &sets);
  void addTables(const Moved &moved, int64_t slack, bool withBytes, Restricted &result, TablePool &to) const;
  static SharedTables makeSharedTables(const SharedPrices &prices, int64_t slack);
  void addSharings(const Moved &moved, int64_t slack, Restricted &result, TablePool &toPool) const;
  /// The least of a sharing for each choice of a member, with what messages leave of the others, or
  /// with these as they are fixed; less the least of all.
  void getSharedSums(const Member &member, llvm::function_ref<std::optional<unsigned>(unsigned)> getFixed,
                     Real *sumOfChoice) const;
  const Real *getTable(TableId id) const;
  /// The table of a link, rows are the choices of `v`.
  TableId getTableFrom(unsigned v, const Link &link) const {
    return problem.edges[link.edge].a == v ? tables[problem.sizes.size() + link.edge] : transposed[link.edge];
  }
  void group();
  void countEntries();
  /// Schedules the visits of a pass that may run at the same time.
  void schedule();
  void pass(bool forward);
  /// Receives and sends messages, of one of those in `visited`.
  void visit(unsigned v, bool forward);
  /// Sets the best choice of a variable given its neighbors, by messages for neighbors with kNoVar. False if it does
  /// not change.
  bool choose(unsigned v, llvm::MutableArrayRef<unsigned> choices) const;

  /// An upper bound of the shared prices per choice of a host.
  static constexpr unsigned kMaxSets = 1 << 16;

  /// Links that variables are compared along at first.
  static constexpr unsigned kRadius = 8;

  const Problem &problem;
  TablePool &pool;
  const Clock &clock;
  std::vector<unsigned> order, position;
  bool tellsAllApart = false;
  bool finest = false;
  double passEntries = 0;
  // One variable of each class, in order; the one that stands for it per variable.
  std::vector<unsigned> visited, classOf;
  bool isScheduled = false;
  std::optional<StepSchedule> forwardSteps, backwardSteps; // only for long passes
  std::vector<unsigned> alikeOf;                           // classOf, as it was at first
  std::vector<unsigned> linkBegin;                         // per variable, into links
  std::vector<Link> links;
  std::vector<unsigned> forwardCount, backwardCount;
  std::vector<unsigned> memberBegin; // per variable, into members
  std::vector<Member> members;
  std::vector<llvm::SmallVector<size_t, 4>> sharedAt; // per sharing and slot: Member::message
  // What members receive, and what they hand to those that come later in a pass.
  std::vector<Real> received, sent;
  std::vector<Real> messages;
  std::vector<TableId> tables, transposed;
  std::vector<TableId> byItem; // per sharing: its prices, item-major
  mutable llvm::DenseMap<TableId, std::unique_ptr<Real[]>> reals;
  Real big = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_DUALASCENT_DUALASCENT_H
