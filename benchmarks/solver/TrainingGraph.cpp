//===- TrainingGraph.cpp - The cost graph of a training step --------------===//

#include "TrainingGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <map>

using namespace mlir::spmd;

namespace {
using Shape = std::vector<int64_t>;
/// Per dim its axes, major to minor; `partial` are those over which a sum is due.
struct Layout {
  std::vector<std::vector<int>> dims;
  std::vector<int> partial;
  auto operator<=>(const Layout &) const = default;
};
/// A loop of an op and, per dim of a tensor, the loop that it follows.
using Loops = std::vector<int64_t>;
using Map = std::vector<int>;

struct Value {
  Shape shape;
  unsigned var;
  int64_t begin, end;
};

class Builder {
public:
  explicit Builder(const TrainingOptions &o) : o(o) {}
  CostGraph build();

private:
  using Id = unsigned;

  // Every way to put axes on dims; all axes have to be used where `all`.
  const std::vector<Layout> &enumerate(const Shape &sizes, bool all);
  void place(const Shape &sizes, bool all, unsigned axis, Layout &l, std::vector<Layout> &found);
  Layout project(const Layout &loops, const Map &map, bool result);
  int64_t getBytes(const Shape &shape, const Layout &l);

  // Picoseconds, axis by axis.
  int64_t getTime(const Shape &shape, const Layout &from, const Layout &to);
  Id addValue(const Shape &shape);

  /// Price of handing layouts of a value to an op's strategies, or the other way round.
  void connect(unsigned var, const std::vector<Layout> &strategies, const Map &map, Id id, bool result);

  /// An op with its own choice how to compute.
  Id addOp(const Loops &loops, std::vector<std::pair<Id, Map>> operands, const Map &result, bool heavy);

  /// Elementwise: computes in the layout of its result.
  Id addLight(const Shape &shape, std::vector<std::pair<Id, Map>> operands);
  Id addSame(const Shape &shape, std::vector<Id> operands);
  Id addArgument(const Shape &shape);
  void tie(Id a, Id b);

  /// A product and what its backward needs.
  struct Product {
    Loops loops;
    Id a, b;
    Map ma, mb, mr;
  };
  Id multiply(const Loops &loops, Id a, Map ma, Id b, Map mb, Map mr);
  std::pair<Id, Id> multiplyBack(const Product &p, Id gradient);
  Id normalize(Id x, Id scale);
  Id normalizeBack(Id x, Id g, Id scale, Id &dScale);
  void adam(Id w, Id g);

  struct Layer {
    Id x, n1, n2, residual, s1, s2, wq, wk, wv, wo, w1, w2, q, k, v, scores, masked, weights, context, h1, h2;
    size_t products;
  };

  const TrainingOptions &o;
  CostGraph graph;
  std::vector<Value> values;
  std::vector<Id> arguments, results;
  std::vector<Product> products;
  int64_t now = 1;
  std::map<std::pair<Shape, bool>, std::vector<Layout>> layouts;
  // Prices and bytes by strategies, map, shape, and whether it is a result.
  std::map<std::tuple<const void *, Map, Shape, bool>, std::pair<unsigned, unsigned>> tables;
};
} // namespace

const std::vector<Layout> &Builder::enumerate(const Shape &sizes, bool all) {
  auto &found = layouts[{sizes, all}];
  if (!found.empty())
    return found;
  Layout l;
  l.dims.resize(sizes.size());
  place(sizes, all, 0, l, found);
  llvm::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty())
    return enumerate(sizes, false);
  return found;
}

void Builder::place(const Shape &sizes, bool all, unsigned axis, Layout &l, std::vector<Layout> &found) {
  if (axis == o.mesh.size()) {
    found.push_back(l);
    return;
  }
  if (!all)
    place(sizes, all, axis + 1, l, found);
  for (unsigned d = 0; d < sizes.size(); ++d) {
    int64_t cut = o.mesh[axis];
    for (int a : l.dims[d])
      cut *= o.mesh[a];
    if (sizes[d] % cut)
      continue;
    for (unsigned at = 0; at <= l.dims[d].size(); ++at) {
      l.dims[d].insert(l.dims[d].begin() + at, axis);
      place(sizes, all, axis + 1, l, found);
      l.dims[d].erase(l.dims[d].begin() + at);
    }
  }
}

Layout Builder::project(const Layout &loops, const Map &map, bool result) {
  Layout l;
  for (int f : map)
    l.dims.push_back(loops.dims[f]);
  if (result)
    for (unsigned f = 0; f < loops.dims.size(); ++f)
      if (!llvm::is_contained(map, int(f)))
        l.partial.insert(l.partial.end(), loops.dims[f].begin(), loops.dims[f].end());
  llvm::sort(l.partial);
  return l;
}

int64_t Builder::getBytes(const Shape &shape, const Layout &l) {
  int64_t n = 4;
  for (int64_t s : shape)
    n *= s;
  for (auto &d : l.dims)
    for (int a : d)
      n /= o.mesh[a];
  return n;
}

int64_t Builder::getTime(const Shape &shape, const Layout &from, const Layout &to) {
  if (from == to)
    return 0;
  double alpha = 1e-5, beta = 1e-10, seconds = 0;
  Layout now = from;
  auto where = [&](const Layout &l, int axis) {
    for (unsigned d = 0; d < l.dims.size(); ++d)
      if (llvm::is_contained(l.dims[d], axis))
        return int(d);
    return llvm::is_contained(l.partial, axis) ? -2 : -1;
  };
  for (int a = 0; a < int(o.mesh.size()); ++a) {
    double n = o.mesh[a], bytes = getBytes(shape, now);
    int f = where(now, a), t = where(to, a);
    if (f == t)
      continue;
    if (f == -2 && t == -1)
      seconds += alpha + beta * 2 * (n - 1) / n * bytes;
    else if (f == -2)
      seconds += alpha + beta * (n - 1) / n * bytes;
    else if (f >= 0 && t == -1)
      seconds += alpha + beta * (n - 1) / n * bytes * n;
    else if (f >= 0 && t >= 0)
      seconds += alpha + beta * (n - 1) / n * bytes;
    else if (t == -2)
      return Price::kImpossible;
    if (f >= 0)
      llvm::erase(now.dims[f], a);
    if (f == -2)
      llvm::erase(now.partial, a);
    if (t >= 0)
      now.dims[t].push_back(a);
  }
  if (now.dims != to.dims)
    seconds += alpha + beta * getBytes(shape, now);
  return std::llround(seconds * 1e12);
}

Builder::Id Builder::addValue(const Shape &shape) {
  Id id = values.size();
  auto &all = enumerate(shape, false);
  values.push_back({shape, graph.addVariable(all.size()), now, now + 1});
  std::vector<Price> prices;
  for (auto &l : all)
    prices.push_back({0, getBytes(shape, l)});
  graph.addCost(values[id].var, graph.addTable(prices));
  return id;
}

void Builder::connect(unsigned var, const std::vector<Layout> &strategies, const Map &map, Id id, bool result) {
  Value &v = values[id];
  auto &all = enumerate(v.shape, false);
  auto [it, inserted] = tables.try_emplace({&strategies, map, v.shape, result});
  if (inserted) {
    std::vector<Price> prices;
    std::vector<int64_t> bytes;
    for (auto &s : strategies) {
      Layout needed = project(s, map, result);
      for (auto &l : all) {
        prices.push_back({result ? getTime(v.shape, needed, l) : getTime(v.shape, l, needed), 0});
        bytes.push_back(needed == l ? 0 : getBytes(v.shape, needed));
      }
    }
    it->second = {graph.addTable(prices), graph.addBytes(bytes)};
  }
  graph.addCost(var, v.var, it->second.first);
  graph.addBuffer(now, now + 1, var, v.var, it->second.second);
  v.end = now + 1;
}

Builder::Id Builder::addOp(const Loops &loops, std::vector<std::pair<Id, Map>> operands, const Map &result,
                           bool heavy) {
  auto &strategies = enumerate(loops, heavy);
  unsigned var = graph.addVariable(strategies.size());
  for (auto &[id, map] : operands)
    connect(var, strategies, map, id, false);
  Shape shape;
  for (int f : result)
    shape.push_back(loops[f]);
  Id id = addValue(shape);
  connect(var, strategies, result, id, true);
  ++now;
  return id;
}

Builder::Id Builder::addLight(const Shape &shape, std::vector<std::pair<Id, Map>> operands) {
  Id id = addValue(shape);
  auto &strategies = enumerate(shape, false);
  for (auto &[o, map] : operands)
    connect(values[id].var, strategies, map, o, false);
  ++now;
  return id;
}

Builder::Id Builder::addSame(const Shape &shape, std::vector<Id> operands) {
  Map map;
  for (unsigned d = 0; d < shape.size(); ++d)
    map.push_back(d);
  std::vector<std::pair<Id, Map>> all;
  for (Id o : operands)
    all.push_back({o, map});
  return addLight(shape, all);
}

Builder::Id Builder::addArgument(const Shape &shape) {
  Id id = addValue(shape);
  values[id].begin = 0;
  arguments.push_back(id);
  return id;
}

void Builder::tie(Id a, Id b) {
  unsigned n = graph.getNumChoices(values[a].var);
  std::vector<Price> prices(n * n, Price::impossible());
  for (unsigned i = 0; i < n; ++i)
    prices[i * n + i] = {0, 0};
  graph.addCost(values[a].var, values[b].var, graph.addTable(prices));
  results.push_back(b);
}

Builder::Id Builder::multiply(const Loops &loops, Id a, Map ma, Id b, Map mb, Map mr) {
  products.push_back({loops, a, b, ma, mb, mr});
  return addOp(loops, {{a, ma}, {b, mb}}, mr, true);
}

std::pair<Builder::Id, Builder::Id> Builder::multiplyBack(const Product &p, Id gradient) {
  Id da = addOp(p.loops, {{gradient, p.mr}, {p.b, p.mb}}, p.ma, true);
  Id db = addOp(p.loops, {{gradient, p.mr}, {p.a, p.ma}}, p.mb, true);
  return {da, db};
}

Builder::Id Builder::normalize(Id x, Id scale) {
  Shape s = values[x].shape;
  Id mean = addOp(s, {{x, {0, 1, 2}}}, {0, 1}, false);
  Id centred = addLight(s, {{x, {0, 1, 2}}, {mean, {0, 1}}});
  Id square = addSame(s, {centred});
  Id variance = addOp(s, {{square, {0, 1, 2}}}, {0, 1}, false);
  Id root = addSame({s[0], s[1]}, {variance});
  return addLight(s, {{centred, {0, 1, 2}}, {root, {0, 1}}, {scale, {2}}});
}

Builder::Id Builder::normalizeBack(Id x, Id g, Id scale, Id &dScale) {
  Shape s = values[x].shape;
  Id product = addSame(s, {x, g});
  dScale = addOp(s, {{product, {0, 1, 2}}}, {2}, false);
  Id sum = addOp(s, {{product, {0, 1, 2}}}, {0, 1}, false);
  Id scaled = addLight(s, {{g, {0, 1, 2}}, {scale, {2}}});
  return addLight(s, {{scaled, {0, 1, 2}}, {sum, {0, 1}}, {x, {0, 1, 2}}});
}

void Builder::adam(Id w, Id g) {
  Shape s = values[w].shape;
  Id m = addArgument(s), v = addArgument(s);
  Id sg = addSame(s, {g});
  Id sm = addSame(s, {m});
  Id m2 = addSame(s, {sm, sg});
  Id gg = addSame(s, {g});
  Id sv = addSame(s, {v});
  Id v2 = addSame(s, {sv, gg});
  Id root = addSame(s, {v2});
  Id quotient = addSame(s, {m2, root});
  Id scaled = addSame(s, {quotient});
  Id w2 = addSame(s, {w, scaled});
  tie(w, w2);
  tie(m, m2);
  tie(v, v2);
}

CostGraph Builder::build() {
  int64_t B = o.batch, S = o.sequence, D = o.width, H = o.heads, K = D / H, F = o.hidden, V = o.vocabulary;
  Shape bsd{B, S, D}, bhst{B, H, S, S}, bsf{B, S, F};
  Id input = addArgument(bsd), mask = addArgument({S, S});
  Id head = addArgument({D, V});
  Id x = input;
  std::vector<Layer> all;
  for (unsigned i = 0; i < o.layers; ++i) {
    Layer l;
    l.x = x;
    l.s1 = addArgument({D});
    l.s2 = addArgument({D});
    l.wq = addArgument({D, H, K});
    l.wk = addArgument({D, H, K});
    l.wv = addArgument({D, H, K});
    l.wo = addArgument({H, K, D});
    l.w1 = addArgument({D, F});
    l.w2 = addArgument({F, D});
    l.products = products.size();
    l.n1 = normalize(x, l.s1);
    Loops in{B, S, D, H, K};
    l.q = multiply(in, l.n1, {0, 1, 2}, l.wq, {2, 3, 4}, {0, 1, 3, 4});
    l.k = multiply(in, l.n1, {0, 1, 2}, l.wk, {2, 3, 4}, {0, 1, 3, 4});
    l.v = multiply(in, l.n1, {0, 1, 2}, l.wv, {2, 3, 4}, {0, 1, 3, 4});
    Loops attention{B, H, S, S, K};
    l.scores = multiply(attention, l.q, {0, 2, 1, 4}, l.k, {0, 3, 1, 4}, {0, 1, 2, 3});
    l.masked = addLight(bhst, {{l.scores, {0, 1, 2, 3}}, {mask, {2, 3}}});
    Id exp = addSame(bhst, {l.masked});
    Id sum = addOp(bhst, {{exp, {0, 1, 2, 3}}}, {0, 1, 2}, false);
    l.weights = addLight(bhst, {{exp, {0, 1, 2, 3}}, {sum, {0, 1, 2}}});
    l.context = multiply(attention, l.weights, {0, 1, 2, 3}, l.v, {0, 3, 1, 4}, {0, 2, 1, 4});
    Id out = multiply({B, S, H, K, D}, l.context, {0, 1, 2, 3}, l.wo, {2, 3, 4}, {0, 1, 4});
    l.residual = addSame(bsd, {x, out});
    l.n2 = normalize(l.residual, l.s2);
    l.h1 = multiply({B, S, D, F}, l.n2, {0, 1, 2}, l.w1, {2, 3}, {0, 1, 3});
    l.h2 = addSame(bsf, {l.h1});
    Id down = multiply({B, S, F, D}, l.h2, {0, 1, 2}, l.w2, {2, 3}, {0, 1, 3});
    x = addSame(bsd, {l.residual, down});
    all.push_back(l);
  }
  Id logits = multiply({B, S, D, V}, x, {0, 1, 2}, head, {2, 3}, {0, 1, 3});
  Id g = addSame({B, S, V}, {logits});
  auto [dx, dHead] = multiplyBack(products.back(), g);
  adam(head, dHead);
  g = dx;
  for (Layer &l : llvm::reverse(all)) {
    auto back = [&](unsigned i, Id gradient) { return multiplyBack(products[l.products + i], gradient); };
    // Products of a layer: q, k, v, scores, context, out, h1, down.
    auto [dh2, dw2] = back(7, g);
    Id dh1 = addSame(bsf, {dh2, l.h1});
    auto [dn2, dw1] = back(6, dh1);
    Id ds2, ds1;
    Id dr = normalizeBack(l.residual, dn2, l.s2, ds2);
    Id gr = addSame(bsd, {g, dr});
    auto [dContext, dwo] = back(5, gr);
    auto [dw, dv] = back(4, dContext);
    Id product = addSame(bhst, {dw, l.weights});
    Id sum = addOp(bhst, {{product, {0, 1, 2, 3}}}, {0, 1, 2}, false);
    Id dScores = addLight(bhst, {{product, {0, 1, 2, 3}}, {sum, {0, 1, 2}}, {l.weights, {0, 1, 2, 3}}});
    auto [dq, dk] = back(3, dScores);
    auto [nq, dwq] = back(0, dq);
    auto [nk, dwk] = back(1, dk);
    auto [nv, dwv] = back(2, dv);
    Id n = addSame(bsd, {nq, nk});
    Id dn1 = addSame(bsd, {n, nv});
    Id dr1 = normalizeBack(l.x, dn1, l.s1, ds1);
    g = addSame(bsd, {gr, dr1});
    adam(l.wq, dwq);
    adam(l.wk, dwk);
    adam(l.wv, dwv);
    adam(l.wo, dwo);
    adam(l.w1, dw1);
    adam(l.w2, dw2);
    adam(l.s1, ds1);
    adam(l.s2, ds2);
  }
  for (Id r : results)
    values[r].end = now;
  for (Value &v : values) {
    std::vector<int64_t> bytes;
    for (auto &l : enumerate(v.shape, false))
      bytes.push_back(getBytes(v.shape, l));
    graph.addBuffer(v.begin, v.end, v.var, graph.addBytes(bytes));
  }
  CostGraph done = std::move(graph);
  return done;
}

CostGraph makeTrainingGraph(const TrainingOptions &options) { return Builder(options).build(); }
