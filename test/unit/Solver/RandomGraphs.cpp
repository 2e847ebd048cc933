//===- RandomGraphs.cpp - Cost graphs at random, and all their choices ----===//

#include "RandomGraphs.h"

using namespace shardkit_test;

static unsigned randomTable(Random &random, CostGraph &graph, size_t size, const GraphOptions &options) {
  std::vector<Price> prices;
  for (size_t i = 0; i < size; ++i)
    prices.push_back(random.chance(options.impossible)
                         ? Price::impossible()
                         : Price{random.below(options.maxTime), options.bytes ? random.below(4) : 0});
  return graph.addTable(std::move(prices));
}

static void addPair(Random &random, CostGraph &graph, unsigned a, unsigned b, const GraphOptions &options) {
  if (random.chance(0.5))
    std::swap(a, b);
  unsigned na = graph.getNumChoices(a), nb = graph.getNumChoices(b);
  if (na == nb && random.chance(0.15)) {
    // Equal choices only: one follows the other.
    std::vector<Price> prices(size_t(na) * nb, Price::impossible());
    for (unsigned i = 0; i < na; ++i)
      prices[i * nb + i] = {random.below(3), 0};
    graph.addCost(a, b, graph.addTable(std::move(prices)));
    return;
  }
  graph.addCost(a, b, randomTable(random, graph, size_t(na) * nb, options));
}

CostGraph shardkit_test::randomGraph(Random &random, const GraphOptions &options) {
  CostGraph graph;
  int64_t product = 1, limit = 1 + random.below(options.maxProduct);
  unsigned most = 2 + random.below(5);
  while (graph.getNumVariables() < 24) {
    unsigned choices = 1 + random.below(most);
    if (product * choices > limit && graph.getNumVariables() > 0)
      break;
    product *= choices;
    graph.addVariable(choices);
  }
  unsigned n = graph.getNumVariables();
  for (unsigned v = 0; v < n; ++v)
    if (random.chance(0.6))
      graph.addCost(v, randomTable(random, graph, graph.getNumChoices(v),
                                   {options.shape, 0, false, 0, options.bytes, 0.05, options.maxTime}));
  for (unsigned v = 1; v < n; ++v) {
    switch (options.shape) {
    case Shape::Tree:
      if (random.chance(0.95))
        addPair(random, graph, random.below(v), v, options);
      break;
    case Shape::Ladder:
      addPair(random, graph, v - 1, v, options);
      if (n - 1 - v != v && n - 1 - v != v - 1)
        addPair(random, graph, n - 1 - v, v, options);
      break;
    case Shape::Dense:
      for (unsigned u = 0; u < v; ++u)
        if (random.chance(0.45))
          addPair(random, graph, u, v, options);
      break;
    }
  }
  for (unsigned i = options.sharings ? 1 + random.below(options.sharings) : 0; i > 0 && n > 1; --i) {
    unsigned host = random.below(n), numItems = 1 + random.below(4);
    std::vector<CostGraph::Reader> readers;
    for (unsigned r = 1 + random.below(6); r > 0; --r) {
      unsigned v = random.below(n);
      if (v == host)
        continue;
      CostGraph::Reader &reader = readers.emplace_back(CostGraph::Reader{v, {}});
      for (unsigned c = 0; c < graph.getNumChoices(v); ++c)
        reader.items.push_back(random.below(numItems));
    }
    std::vector<Price> prices;
    for (unsigned p = 0; p < graph.getNumChoices(host) * numItems; ++p)
      prices.push_back(random.chance(options.impossible / 4) ? Price::impossible()
                                                             : Price{random.below(options.maxTime), 0});
    if (!readers.empty())
      graph.addSharing(host, std::move(readers), graph.addTable(std::move(prices)));
  }
  if (!options.buffers)
    return graph;

  auto interval = [&] {
    int64_t begin = random.below(2 * n), end = begin + 1 + random.below(n);
    return std::pair(begin, end);
  };
  auto bytes = [&](size_t size) {
    std::vector<int64_t> b;
    for (size_t i = 0; i < size; ++i)
      b.push_back(random.below(9));
    return graph.addBytes(std::move(b));
  };
  for (unsigned v = 0; v < n; ++v) {
    if (!random.chance(0.8))
      continue;
    auto [begin, end] = interval();
    graph.addBuffer(begin, end, v, bytes(graph.getNumChoices(v)));
  }
  for (unsigned i = random.below(4); i > 0 && n > 1; --i) {
    unsigned a = random.below(n), b = random.below(n);
    if (a == b)
      continue;
    auto [begin, end] = interval();
    graph.addBuffer(begin, end, a, b, bytes(size_t(graph.getNumChoices(a)) * graph.getNumChoices(b)));
  }
  if (random.chance(0.5)) {
    auto [begin, end] = interval();
    graph.addFixedBuffer(begin, end, random.below(9));
  }
  return graph;
}

BruteForce shardkit_test::enumerate(const CostGraph &graph, std::optional<int64_t> budget) {
  BruteForce result;
  unsigned n = graph.getNumVariables();
  std::vector<unsigned> choices(n, 0);
  // Points where something begins are all that can be the first peak.
  std::vector<int64_t> points;
  for (const CostGraph::Buffer &b : graph.getBuffers())
    points.push_back(b.begin);
  auto getPeak = [&] {
    int64_t peak = 0;
    for (int64_t p : points) {
      int64_t live = 0;
      for (const CostGraph::Buffer &b : graph.getBuffers())
        if (b.begin <= p && p < b.end)
          live += graph.getBytes(b, choices);
      peak = std::max(peak, live);
    }
    return peak;
  };
  Price free = Price::impossible();
  while (true) {
    Price price = graph.getPrice(choices);
    if (!price.isImpossible()) {
      int64_t peak = getPeak();
      if (result.smallestPeak < 0 || peak < result.smallestPeak)
        result.smallestPeak = peak;
      if (price < free || (price == free && peak < result.freePeak)) {
        free = price;
        result.freePeak = peak;
      }
      if ((!budget || peak <= *budget) && price < result.best)
        result.best = price;
    }
    unsigned v = 0;
    while (v < n && ++choices[v] == graph.getNumChoices(v))
      choices[v++] = 0;
    if (v == n)
      return result;
  }
}
