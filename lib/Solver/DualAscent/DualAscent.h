//===- DualAscent.h - A lower bound by moving costs about -------*- C++ -*-===//
//
// Costs may be moved from pairs to their variables and back without changing the price
// of any solution. The sum of the least entries of all tables is a lower bound;
// sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) moves costs such
// that it grows. What a table keeps above its least entry says which choices cannot be
// part of a solution that is as good as the best one known. What readers share is a table of all of
// them, whose costs are moved in the same way (Kolmogorov 2015, on terms of higher order) and whose
// least sums are computed without listing it (SharingSums.h).
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

class DualAscent {
public:
  /// Messages are rounded, the bound is not (see move): single precision only makes passes faster.
  using Real = float;

  /// `order`: in which variables are visited. `clock`: when it is over, anything is too large to restrict.
  DualAscent(const Problem &problem, llvm::ArrayRef<unsigned> order, TablePool &pool, const Clock &clock);

  /// Other tables of the same sizes: those of the variables (kNoTable: zeros), then those
  /// of the edges. `big` stands for impossible: more than any solution of interest costs.
  void setTables(llvm::ArrayRef<TableId> tables, double big);
  /// One pass forward and one back. Variables that look alike as far as some links away
  /// have one copy of their messages: repeated layers cost what a few of them do.
  void iterate();
  /// Tells all variables apart, which go on from the messages that they shared; false
  /// if all are that differ.
  bool refine();
  bool isFinest() const { return finest; }
  /// Tells all apart and begins anew.
  void restart();
  /// Entries that an iteration visits.
  double getPassEntries() const { return passEntries; }
  /// Choices by the messages where they are kNoVar, one variable after the other, then all improved one by
  /// one. False if that ends at something impossible.
  bool decode(llvm::MutableArrayRef<unsigned> choices) const;
  /// Changes choices one by one while that gains something. False if it ends at something impossible.
  bool improve(llvm::MutableArrayRef<unsigned> choices) const;

  /// The tables with the costs moved as they are now, in integers: the same prices exactly,
  /// and no entry below 0 once `bound` is subtracted.
  struct Moved {
    bool impossible = false;
    int64_t bound = 0;
    // What is left to a variable; variables to entries.
    std::vector<std::vector<int64_t>> own;
    std::vector<unsigned> ownOf;
    // What is added to the table of an edge by row and by column, less its least entry; edges
    // to entries.
    std::vector<std::vector<int64_t>> shifts;
    std::vector<unsigned> pairOf;
    // What is added to what a sharing costs by choices of the host, then of the readers, less its
    // least sum; sharings to entries.
    std::vector<std::vector<int64_t>> sharedShifts;
    std::vector<unsigned> sharedOf;
    // What a choice adds to the bound at least; variables to entries.
    std::vector<std::vector<int64_t>> excess;
    std::vector<unsigned> sumOf;

    /// `most`, or a half of it as often as it takes for at most so many choices, on average, to add no more.
    int64_t getNear(int64_t most, unsigned choices) const;
  };
  Moved move() const;

  /// Choices that are one choice: numbers of groups by choice.
  struct Groups {
    static constexpr unsigned kNone = ~0u; // of a choice that is left out
    std::vector<unsigned> of;
    std::vector<llvm::SmallVector<unsigned, 1>> members; // by group

    /// To a group that there is, or the next one.
    void add(unsigned choice, unsigned group);
    /// Moves choices out of their groups, those of one into one that is new.
    void split(llvm::ArrayRef<unsigned> choices);
  };
  /// A problem whose choices are groups of choices: each price is the least one of theirs.
  struct Restricted {
    Problem problem; // of all variables, and behind them those that say what is shared; without buffers
    std::vector<Groups> groups;
    std::vector<unsigned> groupsOf; // variables to entries of `groups`
    bool impossible = false;
    /// What readers share would be too much to list, or takes too long: there is no problem.
    bool isTooLarge = false;
  };
  /// The problem without the choices and pairs that add more than `slack` to the bound:
  /// all solutions within bound + slack, and maybe others. Bytes are those of the tables, or
  /// none; tables are made in a pool of their own.
  Restricted restrict(const Moved &moved, int64_t slack, bool withBytes, TablePool &to) const;
  /// Of these, only the choices that add at most `near` and those of solutions, of any variable that looks
  /// alike.
  Restricted restrictTo(llvm::ArrayRef<std::vector<unsigned>> solutions, const Moved &moved, int64_t near,
                        int64_t slack, TablePool &to) const;
  /// The same with choices taken together, by entries of `Moved::sumOf`: no solution within the slack takes less
  /// (domain abstraction). Without sharings.
  Restricted abstract(llvm::ArrayRef<Groups> groups, const Moved &moved, int64_t slack, bool withBytes,
                      TablePool &to) const;
  /// Splits the groups that a solution of it takes, of several choices. False if it takes none.
  bool split(llvm::ArrayRef<unsigned> solution, const Restricted &abstracted, const Moved &moved,
             llvm::MutableArrayRef<Groups> groups) const;
  /// Whether the tables of it would have at most so many entries.
  bool isAtMost(const Moved &moved, int64_t slack, double most) const;

private:
  struct Link {
    unsigned to, edge;
    bool forward;       // `to` comes later
    size_t message = 0; // where the message from `to` to whom the link belongs to begins
    size_t back = 0;    // and the one the other way
  };
  /// What a variable is in a sharing: the host, or a reader.
  struct Member {
    unsigned sharing, place;   // 0: host, 1 + reader
    bool hasLater, hasEarlier; // whether other members come later, or earlier
    size_t message = 0;        // where what it receives, and what it hands on, begins
  };
  llvm::ArrayRef<Member> getMembers(unsigned v) const {
    return llvm::ArrayRef(members).slice(memberBegin[v], memberBegin[v + 1] - memberBegin[v]);
  }
  unsigned getMember(const Problem::Sharing &sharing, unsigned place) const {
    return place == 0 ? sharing.host : sharing.readers[place - 1].first;
  }
  /// The first position of a member.
  unsigned getEarliest(const Problem::Sharing &sharing) const {
    unsigned earliest = position[sharing.host];
    for (auto &[v, items] : sharing.readers)
      earliest = std::min(earliest, position[v]);
    return earliest;
  }
  /// Where what belongs to a member begins in lists of the choices of all of them.
  size_t getOffset(const Member &member) const {
    size_t offset = 0;
    for (unsigned place = 0; place < member.place; ++place)
      offset += problem.sizes[getMember(problem.sharings[member.sharing], place)];
    return offset;
  }
  bool moveSharings(llvm::ArrayRef<std::vector<int64_t>> give, Moved &result,
                    std::vector<std::vector<int64_t>> &allLeasts) const;
  /// The shifts of one, what choices of its members cost there at least, less the least of all, and that.
  std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>
  moveSharing(unsigned i, llvm::ArrayRef<std::vector<int64_t>> give, llvm::ArrayRef<unsigned> ownOf) const;
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
  /// Says which visits of a pass may be made at the same time.
  void schedule();
  void pass(bool forward);
  /// Receives and sends messages, of one of those in `visited`.
  void visit(unsigned v, bool forward);
  /// The best choice of a variable beside those around it, by the messages of those whose choice is kNoVar. False
  /// if it stays.
  bool choose(unsigned v, llvm::MutableArrayRef<unsigned> choices) const;

  /// What may be shared beside the choices of a host, at most.
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
  std::optional<StepSchedule> forwardSteps, backwardSteps; // of passes that take long enough
  std::vector<unsigned> alikeOf;                           // classOf, as it was at first
  std::vector<unsigned> linkBegin;                         // per variable, into links
  std::vector<Link> links;
  std::vector<unsigned> forwardCount, backwardCount;
  std::vector<unsigned> memberBegin; // per variable, into members
  std::vector<Member> members;
  std::vector<llvm::SmallVector<size_t, 4>> sharedAt; // per sharing and place: Member::message
  // What members receive, and what they hand to those that come later in a pass.
  std::vector<Real> received, handed;
  std::vector<Real> messages;
  std::vector<TableId> tables, transposed;
  std::vector<TableId> byItem; // per sharing: its prices, item-major
  mutable llvm::DenseMap<TableId, std::unique_ptr<Real[]>> reals;
  Real big = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_DUALASCENT_DUALASCENT_H
