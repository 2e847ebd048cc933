//===- shard-lsp-server.cpp - Language server for IR with shardings -------===//
//
// MLIR's server does most: it runs in a child process. This one passes messages on, and adds shardings to hovers, inlay
// hints, completion inside of attributes of the dialect, and fixes.
//
//===----------------------------------------------------------------------===//

#include "ShardingInfo.h"
#include "shardkit/InitAllDialects.h"
#include "mlir/IR/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Transport.h"
#include <csignal>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::spmd;
namespace json = llvm::json;
namespace protocol = llvm::lsp;

namespace {

/// A stream of messages with their lengths.
class Output {
public:
  Output(int file, bool isPretty) : os(file, /*shouldClose=*/true), isPretty(isPretty) {}
  void send(json::Value message) {
    std::lock_guard<std::mutex> lock(mutex);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::formatv(isPretty ? "{0:2}\n" : "{0}", message);
    os << "Content-Length: " << text.size() << "\r\n\r\n" << text;
    os.flush();
    os.clear_error(); // The reader may have ended.
  }
  void close() { os.close(); }

private:
  llvm::raw_fd_ostream os;
  bool isPretty;
  std::mutex mutex;
};

template <typename T> std::optional<T> read(const json::Value &value) {
  T result;
  json::Path::Root root;
  return fromJSON(value, result, root) ? std::optional(std::move(result)) : std::nullopt;
}

bool isIn(const protocol::Range &range, const protocol::Position &position) {
  return range.start.line == position.line && range.end.line == position.line &&
         range.start.character <= position.character && position.character <= range.end.character;
}

/// `[{"x"}, {}]` of `#spmd.sharding<@pod, [{"x"}, {}]>`.
std::string getDims(StringRef sharding) {
  sharding.consume_back(">");
  return sharding.split(", ").second.str();
}

/// Between a client and MLIR's server.
class Server {
public:
  Server(Output &client, Output &upstream, const DialectRegistry &registry)
      : client(client), upstream(upstream), registry(registry) {}
  void fromClient(json::Object message);
  void fromUpstream(json::Object message);

private:
  struct Document {
    std::string text;
    std::optional<std::vector<ShardedValue>> values;
  };
  struct Request {
    std::string method;
    json::Value params;
  };

  void updateDocument(StringRef method, const json::Object &params);
  const std::vector<ShardedValue> &getValues(Document &document);
  /// Answers requests that MLIR's server does not know, or has no answer to.
  std::optional<json::Value> answer(StringRef method, const json::Object &params, Document &document);
  json::Array getHints(const json::Object &params, Document &document);
  json::Array getActions(const json::Object &params, Document &document);
  void extend(const Request &request, json::Object &message);
  void addCapabilities(json::Object &result);
  json::Value addHover(json::Value result, const json::Object &params, Document &document);
  Document *find(const json::Object &params) {
    const json::Object *document = params.getObject("textDocument");
    auto uri = document ? document->getString("uri") : std::nullopt;
    auto it = uri ? documents.find(uri->str()) : documents.end();
    return it == documents.end() ? nullptr : &it->second;
  }

  Output &client, &upstream;
  const DialectRegistry &registry;
  std::mutex mutex;
  std::map<std::string, Document> documents;
  /// Requests whose answers are extended, by their ids as text.
  std::map<std::string, Request> requests;
};

} // namespace

const std::vector<ShardedValue> &Server::getValues(Document &document) {
  if (!document.values)
    document.values = findShardedValues(document.text, registry);
  return *document.values;
}

void Server::updateDocument(StringRef method, const json::Object &params) {
  const json::Object *named = params.getObject("textDocument");
  auto uri = named ? named->getString("uri") : std::nullopt;
  if (!uri)
    return;
  if (method == "textDocument/didOpen") {
    documents[uri->str()] = {named->getString("text").value_or("").str(), std::nullopt};
  } else if (method == "textDocument/didClose") {
    documents.erase(uri->str());
  } else if (const json::Array *changes = params.getArray("contentChanges"); changes && documents.count(uri->str())) {
    Document &document = documents[uri->str()];
    document.values.reset();
    for (const json::Value &change : *changes)
      if (auto event = read<protocol::TextDocumentContentChangeEvent>(change))
        (void)event->applyTo(document.text);
  }
}

json::Array Server::getHints(const json::Object &params, Document &document) {
  json::Array hints;
  auto range = params.get("range") ? read<protocol::Range>(*params.get("range")) : std::nullopt;
  for (const ShardedValue &value : getValues(document)) {
    const int line = value.definition.start.line;
    // What is written in the text needs no hint.
    if (value.completed.empty() || value.completed == value.given ||
        (range && (line < range->start.line || line > range->end.line)))
      continue;
    hints.push_back(json::Object{{"position", value.definition.end},
                                 {"label", getDims(value.completed)},
                                 {"tooltip", "sharding after propagation"},
                                 {"paddingLeft", true}});
  }
  return hints;
}

json::Array Server::getActions(const json::Object &params, Document &document) {
  json::Array actions;
  const json::Object *context = params.getObject("context");
  const json::Array *diagnostics = context ? context->getArray("diagnostics") : nullptr;
  for (const json::Value &diagnostic : diagnostics ? *diagnostics : json::Array()) {
    const json::Object *object = diagnostic.getAsObject();
    auto range = object && object->get("range") ? read<protocol::Range>(*object->get("range")) : std::nullopt;
    auto message = object ? object->getString("message") : std::nullopt;
    if (!range || !message)
      continue;
    bool isFirst = true;
    for (const Fix &fix : getFixes(document.text, range->start.line, *message)) {
      json::Object edits{{params.getObject("textDocument")->getString("uri")->str(),
                          json::Array{json::Object{{"range", fix.range}, {"newText", fix.newText}}}}};
      actions.push_back(json::Object{{"title", fix.title},
                                     {"kind", "quickfix"},
                                     {"isPreferred", std::exchange(isFirst, false)},
                                     {"diagnostics", json::Array{diagnostic}},
                                     {"edit", json::Object{{"changes", std::move(edits)}}}});
    }
  }
  return actions;
}

std::optional<json::Value> Server::answer(StringRef method, const json::Object &params, Document &document) {
  if (method == "textDocument/inlayHint")
    return getHints(params, document);
  auto position = params.get("position") ? read<protocol::Position>(*params.get("position")) : std::nullopt;
  if (method != "textDocument/completion" || !position)
    return std::nullopt;
  std::vector<std::string> labels = getCompletions(document.text, *position);
  if (labels.empty())
    return std::nullopt;
  json::Array items;
  for (const std::string &label : labels)
    items.push_back(json::Object{{"label", label}, {"kind", int(protocol::CompletionItemKind::EnumMember)}});
  return json::Object{{"isIncomplete", false}, {"items", std::move(items)}};
}

void Server::fromClient(json::Object message) {
  std::lock_guard<std::mutex> lock(mutex);
  StringRef method = message.getString("method").value_or("");
  const json::Object *params = message.getObject("params");
  const json::Value *id = message.get("id");
  if (!id && params) {
    updateDocument(method, *params);
  } else if (params && !method.empty()) {
    if (Document *document = find(*params))
      if (std::optional<json::Value> result = answer(method, *params, *document))
        return client.send(json::Object{{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(*result)}});
    if (method == "initialize" || method == "textDocument/hover" || method == "textDocument/codeAction")
      requests.insert({llvm::debugString(*id), Request{method.str(), *message.get("params")}});
  }
  upstream.send(std::move(message));
}

void Server::addCapabilities(json::Object &result) {
  json::Object *capabilities = result.getObject("capabilities");
  if (!capabilities)
    return;
  (*capabilities)["inlayHintProvider"] = true;
  (*capabilities)["codeActionProvider"] = true;
  if (json::Object *completion = capabilities->getObject("completionProvider"))
    if (json::Array *characters = completion->getArray("triggerCharacters"))
      for (const char *character : {".", "\"", "{", "@"})
        if (!llvm::is_contained(*characters, json::Value(character)))
          characters->push_back(character);
  result["serverInfo"] = json::Object{{"name", "shard-lsp-server"}};
}

json::Value Server::addHover(json::Value result, const json::Object &params, Document &document) {
  auto position = params.get("position") ? read<protocol::Position>(*params.get("position")) : std::nullopt;
  if (!position)
    return result;
  for (const ShardedValue &value : getValues(document)) {
    auto isHere = [&](const protocol::Range &range) { return isIn(range, *position); };
    if (!isHere(value.definition) && llvm::none_of(value.uses, isHere))
      continue;
    std::string text;
    if (!value.given.empty())
      text += "Sharding: `" + value.given + "`\n\n";
    if (!value.completed.empty() && value.completed != value.given)
      text += "After propagation: `" + value.completed + "`\n\n";
    json::Object *hover = result.getAsObject();
    if (!hover)
      return json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
    if (json::Object *contents = hover->getObject("contents"))
      (*contents)["value"] = contents->getString("value").value_or("").str() + "\n***\n" + text;
    return result;
  }
  return result;
}

void Server::extend(const Request &request, json::Object &message) {
  if (json::Object *result = message.getObject("result"); request.method == "initialize" && result)
    return addCapabilities(*result);
  const json::Object *params = request.params.getAsObject();
  Document *document = params ? find(*params) : nullptr;
  if (!document)
    return;
  if (request.method == "textDocument/hover" && message.get("result")) {
    message["result"] = addHover(*message.get("result"), *params, *document);
  } else if (request.method == "textDocument/codeAction") {
    json::Array actions = getActions(*params, *document);
    if (const json::Array *others = message.getArray("result"))
      actions.insert(actions.end(), others->begin(), others->end());
    message.erase("error");
    message["result"] = std::move(actions);
  }
}

void Server::fromUpstream(json::Object message) {
  std::lock_guard<std::mutex> lock(mutex);
  if (const json::Value *id = message.get("id"); id && !message.get("method"))
    if (auto node = requests.extract(llvm::debugString(*id)))
      extend(node.mapped(), message);
  client.send(std::move(message));
}

/// Passes each message of a stream on until it ends.
static void pump(std::FILE *file, protocol::JSONStreamStyle style, llvm::function_ref<void(json::Object)> take) {
  protocol::JSONTransportInputOverFile input(file, style);
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(text)))
      continue;
    llvm::Expected<json::Value> message = json::parse(text);
    if (!message)
      llvm::errs() << "error: a message is not JSON: " << toString(message.takeError()) << "\n";
    else if (json::Object *object = message->getAsObject())
      take(std::move(*object));
  }
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  spmd::registerAllDialects(registry);
  // Options are those of MLIR's server. Tests write messages with delimiters.
  SmallVector<char *> options = {argv[0]};
  bool isTest = false, isHelp = false;
  for (char *option : ArrayRef(argv, argc).drop_front()) {
    const bool isLitTest = StringRef(option).ltrim('-') == "lit-test";
    isTest |= isLitTest;
    isHelp |= StringRef(option).ltrim('-').starts_with("help");
    if (!isLitTest)
      options.push_back(option);
  }
  if (isHelp)
    return failed(MlirLspServerMain(argc, argv, registry));
  int toChild[2], fromChild[2];
  if (pipe(toChild) || pipe(fromChild)) {
    llvm::errs() << "error: cannot make a pipe\n";
    return 1;
  }
  const pid_t child = fork();
  if (child < 0) {
    llvm::errs() << "error: cannot start a process\n";
    return 1;
  }
  if (child == 0) {
    dup2(toChild[0], STDIN_FILENO);
    dup2(fromChild[1], STDOUT_FILENO);
    for (int file : {toChild[0], toChild[1], fromChild[0], fromChild[1]})
      close(file);
    return failed(MlirLspServerMain(options.size(), options.data(), registry));
  }
  close(toChild[0]);
  close(fromChild[1]);
  signal(SIGPIPE, SIG_IGN);
  Output client(STDOUT_FILENO, isTest), upstream(toChild[1], /*isPretty=*/false);
  Server server(client, upstream, registry);
  std::thread requests([&] {
    pump(stdin, isTest ? protocol::Delimited : protocol::Standard,
         [&](json::Object message) { server.fromClient(std::move(message)); });
    upstream.close();
  });
  // The server of MLIR ends by a request, or when there are no more.
  pump(fdopen(fromChild[0], "r"), protocol::Standard,
       [&](json::Object message) { server.fromUpstream(std::move(message)); });
  int status = 0;
  waitpid(child, &status, 0);
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1); // The other thread may wait for a client that is done.
}
