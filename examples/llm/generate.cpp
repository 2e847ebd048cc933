// Continues a prompt with a compiled model: prefill, then decode with the cache in place, by the C API of sessions.
//
//   shardkit-import hf DIR -o OUT --mesh model=4 --functions prefill,decode --batch 1 --length 128
//   shard-compile OUT/model.mlir -o BUNDLE
//   generate BUNDLE DIR 5,17,42 --tokens=16 --temperature=0.8 --top-k=40 --seed=1
//
// The prompt and the answer are numbers of tokens: Debian has no library that reads tokenizer.json. generate.py has
// text, and draws the same tokens.
#include "shardkit/rt/session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Throws the message of the runtime if a call failed.
void check(int status) {
  if (status)
    throw std::runtime_error(sk_last_error());
}

/// Chooses tokens by logits: the most likely one, or at random among the most likely ones.
class Sampler {
public:
  Sampler(double temperature, size_t topK, uint32_t seed) : temperature_(temperature), topK_(topK), engine_(seed) {}

  int64_t choose(const std::vector<double> &logits) {
    if (temperature_ == 0)
      return std::max_element(logits.begin(), logits.end()) - logits.begin();
    std::vector<int64_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return logits[a] > logits[b]; });
    if (topK_ && topK_ < order.size())
      order.resize(topK_);
    std::vector<double> sums;
    for (int64_t token : order)
      sums.push_back((sums.empty() ? 0 : sums.back()) + std::exp((logits[token] - logits[order[0]]) / temperature_));
    const auto found = std::upper_bound(sums.begin(), sums.end(), draw() * sums.back());
    return order[std::min<size_t>(found - sums.begin(), order.size() - 1)];
  }

private:
  /// In [0, 1), of 53 bits: what NumPy's RandomState draws.
  double draw() {
    const double high = engine_() >> 5, low = engine_() >> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  double temperature_;
  size_t topK_;
  std::mt19937 engine_;
};

/// The functions `prefill` and `decode` of a bundle.
class Model {
public:
  Model(const char *bundle, const char *weights) {
    check(sk_session_open(nullptr, &session_));
    check(sk_session_add_bundle(session_, bundle, nullptr));
    check(sk_session_find(session_, "prefill", &prefill_));
    check(sk_session_find(session_, "decode", &decode_));
    check(sk_session_load(session_, weights));
    clearCache();
    length_ = describe(prefill_, "input_ids").bytes / int64_t(sizeof(int64_t));
    sk_value_info logits;
    check(sk_session_result(session_, decode_, 0, &logits));
    vocabulary_ = logits.shape[logits.ndim - 1];
  }
  ~Model() { sk_session_close(session_); }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  /// The most tokens of prompt and answer.
  int64_t length() const { return length_; }

  std::vector<double> prefill(std::vector<int64_t> tokens) {
    for (int64_t token : tokens)
      if (token >= vocabulary_)
        throw std::runtime_error("error: token " + std::to_string(token) + ", expected less than " +
                                 std::to_string(vocabulary_) + ", the size of the vocabulary");
    const int64_t last = int64_t(tokens.size()) - 1;
    tokens.resize(length_);
    return call(prefill_, tokens.data(), "last", last);
  }

  std::vector<double> decode(int64_t token, int64_t position) { return call(decode_, &token, "position", position); }

private:
  sk_value_info describe(int32_t function, const char *name) {
    sk_function_info info;
    check(sk_session_function(session_, function, &info));
    for (int32_t i = 0; i < info.arguments; ++i) {
      sk_value_info value;
      check(sk_session_argument(session_, function, i, &value));
      if (!std::strcmp(value.name, name))
        return value;
    }
    throw std::runtime_error("error: " + std::string(info.name) + " has no argument " + name +
                             ", expected functions that shardkit-import hf has written");
  }

  /// The cache begins with zeros. Calls replace it, in its memory.
  void clearCache() {
    sk_function_info info;
    check(sk_session_function(session_, decode_, &info));
    for (int32_t i = 0; i < info.arguments; ++i) {
      sk_value_info value;
      check(sk_session_argument(session_, decode_, i, &value));
      if (!std::strncmp(value.name, "cache.", 6))
        check(sk_session_assign(session_, value.name, std::vector<char>(value.bytes).data(), value.bytes));
    }
  }

  /// The logits: the result that updates no argument.
  std::vector<double> call(int32_t function, const int64_t *tokens, const char *numberName, int64_t number) {
    sk_function_info info;
    check(sk_session_function(session_, function, &info));
    std::vector<sk_argument> arguments(info.arguments);
    for (int32_t i = 0; i < info.arguments; ++i) {
      sk_value_info value;
      check(sk_session_argument(session_, function, i, &value));
      if (!std::strcmp(value.name, "input_ids"))
        arguments[i].data = tokens;
      else if (!std::strcmp(value.name, numberName))
        arguments[i].data = &number;
    }
    std::vector<sk_array *> results(info.results);
    check(sk_session_call(session_, function, arguments.data(), info.arguments, SK_DONATE, results.data()));
    std::vector<double> logits;
    for (sk_array *array : results) {
      sk_value_info value;
      check(sk_array_info(array, &value));
      if (value.tied < 0)
        logits = read(array, value);
      sk_array_release(array);
    }
    return logits;
  }

  static std::vector<double> read(sk_array *array, const sk_value_info &value) {
    std::vector<char> bytes(value.bytes);
    check(sk_array_read(array, bytes.data(), value.bytes));
    if (value.dtype == SK_F32)
      return convert<float>(bytes, [](float x) { return x; });
    if (value.dtype == SK_F16)
      return convert<_Float16>(bytes, [](_Float16 x) { return x; });
    if (value.dtype == SK_BF16)
      return convert<uint16_t>(bytes, [](uint16_t x) {
        const uint32_t bits = uint32_t(x) << 16;
        float wide;
        std::memcpy(&wide, &bits, sizeof wide);
        return wide;
      });
    throw std::runtime_error("error: logits of another type, expected f32, f16 or bf16");
  }

  template <typename T, typename F> static std::vector<double> convert(const std::vector<char> &bytes, F toFloat) {
    std::vector<double> values;
    for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T x;
      std::memcpy(&x, &bytes[i], sizeof x);
      values.push_back(double(toFloat(x)));
    }
    return values;
  }

  sk_session *session_ = nullptr;
  int32_t prefill_ = 0, decode_ = 0;
  int64_t length_ = 0, vocabulary_ = 0;
};

struct Options {
  int64_t tokens = 32, topK = 0, seed = 0;
  double temperature = 0;
};

/// The number that all of a text is, at least `low`.
double readNumber(const std::string &text, const std::string &what, double low) {
  char *end;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= low))
    throw std::runtime_error("error: " + what + " is '" + text + "', expected a number of at least " +
                             std::to_string(int(low)));
  return value;
}

Options readOptions(int argc, char **argv) {
  Options options;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
    if (name == "--tokens")
      options.tokens = int64_t(readNumber(value, name, 1));
    else if (name == "--temperature")
      options.temperature = readNumber(value, name, 0);
    else if (name == "--top-k")
      options.topK = int64_t(readNumber(value, name, 0));
    else if (name == "--seed")
      options.seed = int64_t(readNumber(value, name, 0));
    else
      throw std::runtime_error("error: unknown option " + name +
                               ", expected --tokens, --temperature, --top-k or --seed, with =");
  }
  return options;
}

std::vector<int64_t> readTokens(const std::string &text) {
  std::vector<int64_t> tokens;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    tokens.push_back(int64_t(readNumber(text.substr(begin, end - begin), "a token", 0)));
    begin = end + 1;
  }
  return tokens;
}

void generate(int argc, char **argv) {
  const Options options = readOptions(argc, argv);
  const std::vector<int64_t> prompt = readTokens(argv[3]);
  Model model(argv[1], argv[2]);
  const int64_t size = int64_t(prompt.size());
  if (size >= model.length())
    throw std::runtime_error("error: a prompt of " + std::to_string(size) + " tokens, expected fewer than " +
                             std::to_string(model.length()) + ": the cache has no more");
  Sampler sampler(options.temperature, size_t(options.topK), uint32_t(options.seed));
  std::vector<double> logits = model.prefill(prompt);
  for (int64_t position = size, end = std::min(size + options.tokens, model.length()); position < end; ++position) {
    const int64_t token = sampler.choose(logits);
    std::printf("%s%lld", position == size ? "" : ",", (long long)token);
    std::fflush(stdout);
    if (position + 1 < end)
      logits = model.decode(token, position);
  }
  std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: %s BUNDLE WEIGHTS TOKEN,TOKEN,... [--tokens=N] [--temperature=T] [--top-k=K] [--seed=S]\n",
                 argv[0]);
    return 1;
  }
  try {
    generate(argc, argv);
  } catch (const std::exception &error) {
    const std::string text = error.what();
    std::fprintf(stderr, "%s%s\n", text.rfind("error: ", 0) ? "error: " : "", text.c_str());
    return 1;
  }
  return 0;
}
