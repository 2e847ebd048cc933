//===- ShardingInfo.cpp - What an editor shows of shardings ---------------===//

#include "ShardingInfo.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include <map>

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string print(Attribute attr) {
  std::string text;
  if (attr && !isa<UnitAttr>(attr))
    llvm::raw_string_ostream(text) << attr;
  return text;
}

namespace {

/// Shardings by the place of an op, or of a function, in the text: of results, and of arguments.
using Shardings = std::map<std::pair<unsigned, unsigned>, std::vector<std::string>>;

std::optional<std::pair<unsigned, unsigned>> getPlace(Operation *op) {
  auto loc = dyn_cast<FileLineColLoc>(op->getLoc());
  return loc ? std::optional(std::pair(loc.getLine(), loc.getColumn())) : std::nullopt;
}

std::vector<std::string> readShardings(Operation *op) {
  std::vector<std::string> shardings;
  if (auto func = dyn_cast<FunctionOpInterface>(op)) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      shardings.push_back(print(func.getArgAttr(i, kShardingAttr)));
  } else if (auto list = op->getAttrOfType<ArrayAttr>(kShardingsAttr)) {
    for (Attribute attr : list)
      shardings.push_back(print(attr));
  }
  return shardings;
}

/// Shardings after propagation. Of the copies of a function the first counts.
Shardings complete(StringRef text, MLIRContext &context) {
  Shardings found;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return found;
  if (getPhase(*module) < int(Phase::Propagated)) {
    PassManager pm(&context);
    SPMDPropagatePassOptions options;
    options.plan = DefaultPlan::Propagation;
    pm.addPass(createSPMDPropagatePass(options));
    if (failed(pm.run(*module)))
      return found;
  }
  module->walk([&](Operation *op) {
    if (auto place = getPlace(op))
      if (std::vector<std::string> shardings = readShardings(op); !shardings.empty())
        found.try_emplace(*place, std::move(shardings));
  });
  return found;
}

void addValue(std::vector<ShardedValue> &values, llvm::SourceMgr &source,
              const AsmParserState::SMDefinition &definition, std::string given, std::string completed) {
  if (!definition.loc.isValid() || (given.empty() && completed.empty()))
    return;
  ShardedValue &value = values.emplace_back();
  value.definition = llvm::lsp::Range(source, definition.loc);
  for (SMRange use : definition.uses)
    value.uses.push_back(llvm::lsp::Range(source, use));
  value.given = std::move(given);
  value.completed = std::move(completed);
}

void addValues(std::vector<ShardedValue> &values, StringRef text, MLIRContext &context) {
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), SMLoc());
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(source, &block, ParserConfig(&context), &state)))
    return;
  Shardings shardings = complete(text, context);
  auto at = [](const std::vector<std::string> &list, unsigned i) { return i < list.size() ? list[i] : std::string(); };
  auto completed = [&](Operation *op, unsigned i) {
    auto place = getPlace(op);
    auto it = place ? shardings.find(*place) : shardings.end();
    return it == shardings.end() ? std::string() : at(it->second, i);
  };
  for (const AsmParserState::OperationDefinition &def : state.getOpDefs())
    for (const auto &group : def.resultGroups)
      addValue(values, source, group.definition, at(readShardings(def.op), group.startIndex),
               completed(def.op, group.startIndex));
  for (const AsmParserState::BlockDefinition &def : state.getBlockDefs()) {
    Operation *parent = def.block->getParentOp();
    if (!isa_and_nonnull<FunctionOpInterface>(parent) || !def.block->isEntryBlock())
      continue;
    for (auto [i, argument] : llvm::enumerate(def.arguments))
      addValue(values, source, argument, at(readShardings(parent), i), completed(parent, i));
  }
}

} // namespace

std::vector<ShardedValue> spmd::findShardedValues(StringRef text, const DialectRegistry &registry) {
  std::vector<ShardedValue> values;
  std::string before;
  while (!text.empty()) {
    size_t end = text.find("\n// -----");
    StringRef part = text.take_front(end == StringRef::npos ? end : end + 1);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    // The server reports them.
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    // Lines are those of the document.
    addValues(values, before + part.str(), context);
    before.append(part.count('\n'), '\n');
    text = text.drop_front(part.size());
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Meshes of a text that need not parse
//===----------------------------------------------------------------------===//

namespace {

struct TextMesh {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
};

std::vector<TextMesh> findMeshes(StringRef text) {
  static const llvm::Regex mesh("spmd\\.mesh @([A-Za-z0-9_.$-]+) = <\\[([^]]*)\\]"), axis("\"([^\"]*)\" *= *([0-9]+)");
  std::vector<TextMesh> meshes;
  for (SmallVector<StringRef> found; mesh.match(text, &found); text = text.drop_front(found[0].end() - text.begin())) {
    TextMesh &made = meshes.emplace_back();
    made.name = found[1].str();
    StringRef axes = found[2];
    for (SmallVector<StringRef> each; axis.match(axes, &each); axes = axes.drop_front(each[0].end() - axes.begin()))
      made.axes.push_back({each[1].str(), std::stoll(each[2].str())});
  }
  return meshes;
}

size_t getOffset(StringRef text, llvm::lsp::Position position) {
  size_t offset = 0;
  for (int line = 0; line < position.line; ++line) {
    size_t end = text.find('\n', offset);
    if (end == StringRef::npos)
      return text.size();
    offset = end + 1;
  }
  return std::min(offset + position.character, text.size());
}

} // namespace

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

/// The text from the last `<` that is open at the end; empty if there is none on the last lines.
static StringRef getOpenBracket(StringRef text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0 && text[i] != '%';) {
    const bool isArrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
    depth += text[i] == '>' && !isArrow ? 1 : text[i] == '<' ? -1 : 0;
    if (depth < 0)
      return text.substr(i);
  }
  return {};
}

std::vector<std::string> spmd::getCompletions(StringRef text, llvm::lsp::Position position) {
  StringRef before = text.take_front(getOffset(text, position));
  StringRef word = before.substr(before.find_last_not_of("abcdefghijklmnopqrstuvwxyz_") + 1);
  std::vector<std::string> items;
  if (before.drop_back(word.size()).ends_with("#spmd.")) {
    for (StringRef kind : {AxesAttr::getMnemonic(), AxisResourcesAttr::getMnemonic(), FactorsAttr::getMnemonic(),
                           MeshAttr::getMnemonic(), MicrobatchAttr::getMnemonic(), OrtAttr::getMnemonic(),
                           RuleAttr::getMnemonic(), SegmentsAttr::getMnemonic(), ShardingAttr::getMnemonic()})
      items.push_back(kind.str());
    return items;
  }
  StringRef open = getOpenBracket(before);
  const bool isSharding = open.starts_with("<@") || before.drop_back(open.size()).ends_with("#spmd.sharding");
  if (open.empty() || !isSharding)
    return items;
  std::vector<TextMesh> meshes = findMeshes(text);
  StringRef name = open.drop_front().ltrim('@').take_until([](char c) { return c == ',' || c == ' ' || c == '>'; });
  if (!open.contains(',')) {
    for (const TextMesh &mesh : meshes)
      items.push_back((open.contains('@') ? "" : "@") + mesh.name);
    return items;
  }
  const bool isQuoted = open.count('"') % 2;
  for (const TextMesh &mesh : meshes)
    if (mesh.name == name && open.count('{') > open.count('}'))
      for (const auto &[axis, size] : mesh.axes)
        if (!open.contains("\"" + axis + "\""))
          items.push_back(isQuoted ? axis : "\"" + axis + "\"");
  if (open.count('[') == open.count(']') && open.count('{') == open.count('}'))
    items.insert(items.end(), {"replicated = {}", "unreduced = {}"});
  return items;
}

//===----------------------------------------------------------------------===//
// Fixes
//===----------------------------------------------------------------------===//

namespace {

/// An entry of a dim as it is written: an axis, a sub-axis `"x":(1)2`, or a stride.
struct TextEntry {
  std::string text;
  int64_t size;
};

StringRef getLine(StringRef text, int line) {
  return text.drop_front(getOffset(text, {line, 0})).take_until([](char c) { return c == '\n'; });
}

/// The lists of entries whose product divides `size`, by how far their product is from that of `entries`: some of these
/// entries are left out, or a sub-axis becomes smaller.
std::vector<std::string> getLegalProducts(ArrayRef<TextEntry> entries, int64_t size) {
  int64_t wanted = 1;
  std::vector<std::pair<int64_t, std::string>> products = {{1, ""}};
  for (const TextEntry &entry : entries) {
    wanted *= entry.size;
    std::vector<TextEntry> options = {entry};
    if (size_t at = entry.text.find(')'); at != std::string::npos)
      for (int64_t smaller = 2; smaller < entry.size; ++smaller)
        if (entry.size % smaller == 0)
          options.push_back({entry.text.substr(0, at + 1) + std::to_string(smaller), smaller});
    for (auto [product, text] : std::vector(products))
      for (const TextEntry &option : options)
        products.push_back({product * option.size, text + (text.empty() ? "" : ", ") + option.text});
  }
  llvm::erase_if(products, [&](const auto &product) { return size % product.first != 0 || product.first == wanted; });
  llvm::stable_sort(
      products, [&](const auto &a, const auto &b) { return std::abs(wanted - a.first) < std::abs(wanted - b.first); });
  std::vector<std::string> texts;
  for (const auto &product : products)
    texts.push_back(product.second);
  return texts;
}

} // namespace

std::vector<Fix> spmd::getFixes(StringRef text, int line, StringRef message) {
  static const llvm::Regex unknown("unknown (axis|mesh) (\"[^\"]*\"|@[A-Za-z0-9_.$-]+)"),
      uneven("dimension [0-9]+ of size ([0-9]+) is sharded as \\{([^}]*)\\}, expected a product that divides it");
  std::vector<Fix> fixes;
  StringRef written = getLine(text, line);
  auto add = [&](StringRef old, std::string newText) {
    size_t at = written.find(old);
    if (at == StringRef::npos)
      return;
    const llvm::lsp::Range range({line, int(at)}, {line, int(at + old.size())});
    fixes.push_back({"Replace " + old.str() + " by " + newText, newText, range});
  };
  SmallVector<StringRef> found;
  if (unknown.match(message, &found)) {
    std::vector<std::string> names;
    for (const TextMesh &mesh : findMeshes(text)) {
      if (found[1] == "mesh")
        names.push_back("@" + mesh.name);
      for (const auto &[axis, size] : mesh.axes)
        if (std::string quoted = "\"" + axis + "\""; found[1] == "axis" && message.contains(quoted))
          names.push_back(quoted);
    }
    llvm::stable_sort(names, [&](const std::string &a, const std::string &b) {
      return found[2].edit_distance(a) < found[2].edit_distance(b);
    });
    for (const std::string &name : names)
      add(found[2], name);
  } else if (uneven.match(message, &found)) {
    std::vector<TextEntry> entries;
    std::map<std::string, int64_t> sizes;
    for (const TextMesh &mesh : findMeshes(text))
      for (const auto &[axis, size] : mesh.axes)
        sizes["\"" + axis + "\""] = size;
    SmallVector<StringRef> items;
    found[2].split(items, ',', -1, /*KeepEmpty=*/false);
    for (StringRef item : llvm::map_range(items, [](StringRef item) { return item.trim(); })) {
      int64_t size = 1;
      if (item.rsplit(')').second.getAsInteger(10, size) && item.getAsInteger(10, size))
        size = sizes.count(item.str()) ? sizes[item.str()] : 1;
      entries.push_back({item.str(), size});
    }
    for (const std::string &product : getLegalProducts(entries, std::stoll(found[1].str())))
      add(("{" + found[2] + "}").str(), "{" + product + "}");
  }
  return fixes;
}
