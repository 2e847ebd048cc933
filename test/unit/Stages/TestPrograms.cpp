//===- TestPrograms.cpp - Pipelined programs of the shapes that occur -----===//

#include "TestPrograms.h"

using namespace shardkit_test;

static int64_t addValue(PipelineProgram &program, std::string name, bool perMicrobatch = true) {
  PipelineValue &value = program.values.emplace_back();
  value.name = std::move(name);
  value.perMicrobatch = perMicrobatch;
  return program.values.size() - 1;
}

static StageFunction &addFunction(PipelineProgram &program, std::string name, int64_t stage, StageFragment fragment) {
  StageFunction &function = program.functions.emplace_back();
  function.name = std::move(name);
  function.stage = stage;
  function.fragment = fragment;
  return function;
}

PipelineProgram shardkit_test::makeTraining(int64_t numMeshes, int64_t virtualStages) {
  PipelineProgram program;
  int64_t last = numMeshes * virtualStages - 1;
  std::vector<int64_t> x, saved, g, sum;
  for (int64_t k = 0; k <= last; ++k) {
    std::string number = std::to_string(k);
    program.meshOfStage.push_back(k % numMeshes);
    x.push_back(addValue(program, k == last ? "loss" : "x" + number));
    saved.push_back(addValue(program, "saved" + number));
    g.push_back(k == 0 ? -1 : addValue(program, "g" + number));
    sum.push_back(addValue(program, "sum" + number, false));
  }
  int64_t skip = last > 0 ? addValue(program, "skip") : -1;
  int64_t tied = last > 0 ? addValue(program, "tied", false) : -1;
  for (int64_t k = 0; k <= last; ++k) {
    std::string number = std::to_string(k);
    StageFunction &forward = addFunction(program, "f" + number, k, StageFragment::Forward);
    forward.writes = {x[k], saved[k]};
    if (k > 0)
      forward.reads.push_back(x[k - 1]);
    if (k == 0 && last > 0)
      forward.writes.push_back(skip);
    if (k == last && last > 0)
      forward.reads.push_back(skip);

    StageFunction &backward = addFunction(program, "b" + number, k, StageFragment::Backward);
    backward.reads = {saved[k], sum[k]};
    backward.writes = {sum[k]};
    if (k > 0) {
      backward.reads.push_back(x[k - 1]);
      backward.writes.push_back(g[k]);
    }
    if (k < last)
      backward.reads.push_back(g[k + 1]);

    StageFunction &apply = addFunction(program, "a" + number, k, StageFragment::Apply);
    apply.reads = {sum[k]};
    if (k == 0 && last > 0) {
      apply.reads.push_back(sum[last]);
      apply.writes = {tied};
    }
  }
  if (last > 0) {
    StageFunction &second = addFunction(program, "last", last, StageFragment::Apply);
    second.round = 1;
    second.reads = {tied};
  }
  return program;
}

PipelineProgram shardkit_test::makeInference(int64_t numMeshes) {
  PipelineProgram program;
  for (int64_t k = 0; k < numMeshes; ++k) {
    program.meshOfStage.push_back(k);
    int64_t x = addValue(program, k == numMeshes - 1 ? "y" : "x" + std::to_string(k));
    StageFunction &forward = addFunction(program, "f" + std::to_string(k), k, StageFragment::Forward);
    forward.writes = {x};
    if (k > 0)
      forward.reads = {x - 1};
  }
  return program;
}

PipelineProgram shardkit_test::makeProgram(const ClockTable &table) {
  return table.kind == ScheduleKind::Inference ? makeInference(table.numMeshes)
                                               : makeTraining(table.numMeshes, table.virtualStages);
}
