//===- Certificate.cpp - What is proven of a program ----------------------===//

#include "LoadingFunctions.h"
#include "ScheduleSteps.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Proof/Normalize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

bool Certificate::isRefused() const {
  return llvm::any_of(functions, [](const Function &function) { return function.proof.outcome == Outcome::Refused; });
}

namespace {
/// Hashes a program: names, attributes and types are printed once each, and stand for their number after that.
class ProgramHash {
public:
  void add(Operation *op) {
    addText(op->getName().getAsOpaquePointer(), [&](llvm::raw_ostream &os) { os << op->getName(); });
    DictionaryAttr attributes = op->getAttrDictionary();
    addText(attributes.getAsOpaquePointer(), [&](llvm::raw_ostream &os) { os << attributes; });
    addNumber(op->getNumOperands());
    for (Value operand : op->getOperands())
      addNumber(values.lookup(operand));
    addValues(op->getResults());
    addNumber(op->getNumRegions());
    for (Region &region : op->getRegions()) {
      addNumber(region.getBlocks().size());
      for (Block &block : region) {
        addValues(block.getArguments());
        addNumber(block.getOperations().size());
        for (Operation &nested : block)
          add(&nested);
      }
    }
  }
  std::string get() { return llvm::toHex(hash.final<16>(), /*LowerCase=*/true); }

private:
  void addNumber(uint64_t number) {
    hash.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&number), sizeof(number)));
  }
  void addText(const void *key, llvm::function_ref<void(llvm::raw_ostream &)> print) {
    auto [it, isNew] = texts.try_emplace(key, texts.size());
    addNumber(it->second);
    if (!isNew)
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    print(os);
    addNumber(text.size());
    hash.update(text);
  }
  void addValues(ValueRange range) {
    addNumber(range.size());
    for (Value value : range) {
      values[value] = values.size() + 1;
      addText(value.getType().getAsOpaquePointer(), [&](llvm::raw_ostream &os) { os << value.getType(); });
    }
  }

  llvm::BLAKE3 hash;
  llvm::DenseMap<const void *, uint64_t> texts;
  llvm::DenseMap<Value, uint64_t> values;
};
} // namespace

std::string proof::getHash(ModuleOp module) {
  ProgramHash hash;
  hash.add(module);
  return hash.get();
}

FailureOr<Certificate> proof::proveModule(ModuleOp global, ModuleOp local, bool withClaims, int64_t maxSizes,
                                          const Fallback &fallback) {
  Certificate certificate;
  certificate.global = getHash(global);
  certificate.local = getHash(local);
  OwningOpRef<ModuleOp> globalCopy = global.clone(), localCopy = local.clone();
  for (OpenSchedule &schedule : replaceSchedules(*localCopy)) {
    // The op is one of a copy.
    schedule.proof.op = nullptr;
    certificate.functions.push_back({schedule.name, schedule.proof, std::nullopt});
  }
  certificate.passes = normalize(*globalCopy, *localCopy);
  LoadingProver loading(certificate, withClaims);
  for (auto func : llvm::to_vector(localCopy->getOps<func::FuncOp>())) {
    if (func.isExternal() || func.isPrivate() || func->hasAttr(kScheduleAttr))
      continue;
    auto other = globalCopy->lookupSymbol<func::FuncOp>(func.getName());
    if (!other || other.isExternal())
      return func.emitError() << "@" << func.getName() << " is not a function of the unsharded program";
    if (failed(loading.prove(other, func)))
      return failure();
    FailureOr<Proof> proof = prove(other, func, withClaims, maxSizes, fallback);
    if (failed(proof))
      return failure();
    // The op is one of a copy.
    proof->op = nullptr;
    certificate.functions.push_back({func.getName().str(), *proof, std::nullopt});
  }
  return certificate;
}

void proof::report(const Certificate &certificate, std::optional<DiagnosticSeverity> undecided) {
  for (const Certificate::Function &function : certificate.functions) {
    const Proof &proof = function.proof;
    if (proof.outcome == Outcome::Proven || (proof.outcome == Outcome::Undecided && !undecided))
      continue;
    bool isError = proof.outcome == Outcome::Refused || undecided == DiagnosticSeverity::Error;
    InFlightDiagnostic diag = isError ? emitError(*proof.loc) : emitWarning(*proof.loc);
    diag << "@" << function.name << " is " << stringifyOutcome(proof.outcome) << " at " << proof.opName << ": "
         << proof.reason;
    if (!proof.example.empty())
      diag.attachNote(*proof.loc) << proof.example;
    for (auto &[loc, note] : proof.notes)
      diag.attachNote(loc) << note;
  }
}

void proof::printJSON(const Certificate &certificate, raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("unsharded", certificate.global);
    json.attribute("partitioned", certificate.local);
    if (!certificate.reason.empty())
      json.attribute("reason", certificate.reason);
    json.attributeArray("passes", [&] {
      for (const std::string &pass : certificate.passes)
        json.value(pass);
    });
    json.attributeArray("functions", [&] {
      for (const auto &[name, proof, loads] : certificate.functions)
        json.object([&, &name = name, &proof = proof, &loads = loads] {
          json.attribute("name", name);
          if (loads)
            json.attributeObject("loads", [&] {
              json.attribute("function", loads->function);
              json.attribute("argument", int64_t(loads->argument));
            });
          json.attribute("outcome", stringifyOutcome(proof.outcome));
          json.attribute("ops", int64_t(proof.localOps));
          json.attribute("unsharded_ops", int64_t(proof.globalOps));
          if (proof.outcome != Outcome::Proven) {
            json.attribute("op", proof.opName);
            json.attribute("reason", proof.reason);
            json.attribute("kind", proof.kind);
            if (!proof.example.empty())
              json.attribute("example", proof.example);
          }
          json.attributeObject("rules", [&] {
            for (auto &[rule, uses] : proof.rules)
              json.attribute(rule, int64_t(uses));
          });
          json.attributeArray("values", [&] {
            for (const ValueFact &fact : proof.values)
              json.object([&] {
                json.attribute("op", fact.op);
                json.attribute("number", int64_t(fact.number));
                json.attribute("result", int64_t(fact.result));
                json.attribute("of", fact.of);
                json.attribute("holds", fact.holds);
              });
          });
          if (proof.claims.empty())
            return;
          json.attributeArray("claims", [&] {
            for (const ValueClaim &claim : proof.claims)
              json.object([&] {
                json.attribute("op", claim.op);
                json.attribute(claim.isCarried ? "carried" : "result", int64_t(claim.result));
                json.attributeArray("holds", [&] {
                  for (const std::string &text : claim.holds)
                    json.rawValue(text);
                });
              });
          });
        });
    });
  });
  os << "\n";
}
