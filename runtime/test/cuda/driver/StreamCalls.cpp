//===- StreamCalls.cpp - cuStream*, cuEvent*, cuGraph* --------------------===//

#include "Emulator.h"

using namespace shardkit::emu;

static CUresult errorOf(int device) { return emulator().devices[size_t(device)].error; }

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

EMU_EXPORT CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
  Lock lock(emulator().mutex);
  CUresult error;
  int device = needContext("cuStreamCreate", error);
  if (device < 0)
    return error;
  if (!out || flags > 1)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuStreamCreate", "illegal argument");
  auto s = std::make_shared<Stream>();
  s->device = device;
  s->blocking = flags == 0;
  s->priority = priority;
  s->id = emulator().nextStream++;
  *out = reinterpret_cast<CUstream>(s.get());
  emulator().streams[s.get()] = std::move(s);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuStreamCreate(CUstream *out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

EMU_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  Lock lock(emulator().mutex);
  Stream *s = handle ? emulator().stream(handle, "cuStreamDestroy") : nullptr;
  if (!s || s->isDefault)
    return CUDA_ERROR_INVALID_HANDLE;
  emulator().drain(*s);
  emulator().streams.erase(handle);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamSynchronize");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) {
    s->capture->invalid = true;
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamSynchronize", "the stream is being captured");
  }
  emulator().drain(*s);
  return errorOf(s->device);
}

EMU_EXPORT CUresult cuStreamQuery(CUstream handle) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamQuery");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) {
    s->capture->invalid = true;
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamQuery", "the stream is being captured");
  }
  if (CUresult error = errorOf(s->device))
    return error;
  bool done = s->items.empty() && !s->running;
  if (!done) // Who asks again and again gets there.
    emulator().step(*s);
  return done ? errorOf(s->device) : CUDA_ERROR_NOT_READY;
}

EMU_EXPORT CUresult cuStreamGetPriority(CUstream handle, int *out) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamGetPriority");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  *out = s->priority;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned *out) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamGetFlags");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  *out = s->blocking ? 0 : 1;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  return enqueue(handle,
                 simple("host function",
                        [=] {
                          function(data);
                          return Progress::Done;
                        }),
                 "cuLaunchHostFunc");
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static Event *event(CUevent handle, const char *function) {
  auto it = emulator().events.find(handle);
  if (it == emulator().events.end()) {
    complain(std::string(function) + ": no such event");
    return nullptr;
  }
  return it->second.get();
}

EMU_EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags) {
  Lock lock(emulator().mutex);
  CUresult error;
  if (needContext("cuEventCreate", error) < 0)
    return error;
  auto e = std::make_unique<Event>();
  e->timing = !(flags & 2);
  *out = reinterpret_cast<CUevent>(e.get());
  emulator().events[e.get()] = std::move(e);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
  Lock lock(emulator().mutex);
  if (!event(handle, "cuEventDestroy"))
    return CUDA_ERROR_INVALID_HANDLE;
  emulator().events.erase(handle);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream) {
  Lock lock(emulator().mutex);
  Event *e = event(handle, "cuEventRecord");
  Stream *s = emulator().stream(stream, "cuEventRecord");
  if (!e || !s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = errorOf(s->device))
    return error;
  if (s->capture) {
    e->capture = s->capture;
    e->nodes = s->last;
    e->mark = nullptr;
    return CUDA_SUCCESS;
  }
  e->capture = nullptr;
  auto mark = std::make_shared<Mark>();
  mark->stream = s->shared_from_this();
  e->mark = mark;
  emulator().push(*s, {{}, mark, nullptr});
  emulator().settle();
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned) {
  return cuEventRecord(handle, stream);
}

EMU_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags) {
  Lock lock(emulator().mutex);
  Event *e = event(handle, "cuStreamWaitEvent");
  Stream *s = emulator().stream(stream, "cuStreamWaitEvent");
  if (!e || !s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = errorOf(s->device))
    return error;
  if (e->capture) {
    if (!e->capture->origin)
      return failed(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "cuStreamWaitEvent",
                    "the event was recorded in a capture that has ended");
    if (s->capture && s->capture != e->capture)
      return failed(902, "cuStreamWaitEvent", "the streams belong to two captures");
    if (!s->capture) {
      s->capture = e->capture;
      s->capture->streams.insert(s);
      s->last.clear();
    }
    s->last.insert(s->last.end(), e->nodes.begin(), e->nodes.end());
    return CUDA_SUCCESS;
  }
  if (s->capture) {
    s->capture->invalid = true;
    return failed(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "cuStreamWaitEvent",
                  "a stream that is captured waits for an event from outside of the capture");
  }
  if (!e->mark || e->mark->done)
    return CUDA_SUCCESS;
  emulator().push(*s, {{}, nullptr, e->mark});
  emulator().settle();
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  Lock lock(emulator().mutex);
  Event *e = event(handle, "cuEventSynchronize");
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  if (e->capture)
    return failed(CUDA_ERROR_CAPTURED_EVENT, "cuEventSynchronize", "the event was recorded in a capture");
  std::shared_ptr<Mark> mark = e->mark;
  if (!mark)
    return CUDA_SUCCESS;
  int device = mark->done ? -1 : mark->stream->device;
  if (!mark->done)
    emulator().drain(*mark->stream, mark.get());
  return device < 0 ? CUDA_SUCCESS : errorOf(device);
}
EMU_EXPORT CUresult cuEventQuery(CUevent handle) {
  Lock lock(emulator().mutex);
  Event *e = event(handle, "cuEventQuery");
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  if (e->capture)
    return failed(CUDA_ERROR_CAPTURED_EVENT, "cuEventQuery", "the event was recorded in a capture");
  if (!e->mark || e->mark->done)
    return CUDA_SUCCESS;
  if (CUresult error = errorOf(e->mark->stream->device))
    return error;
  emulator().step(*e->mark->stream);
  return CUDA_ERROR_NOT_READY;
}
EMU_EXPORT CUresult cuEventElapsedTime(float *out, CUevent from, CUevent to) {
  Lock lock(emulator().mutex);
  Event *a = event(from, "cuEventElapsedTime"), *b = event(to, "cuEventElapsedTime");
  if (!a || !b || !a->mark || !b->mark || !a->timing || !b->timing)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!a->mark->done || !b->mark->done)
    return CUDA_ERROR_NOT_READY;
  *out = float(b->mark->nanoseconds - a->mark->nanoseconds) * 1e-6f;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuEventElapsedTime_v2(float *out, CUevent from, CUevent to) {
  return cuEventElapsedTime(out, from, to);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

EMU_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamBeginCapture");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (s->isDefault || s->capture || mode < 0 || mode > 2)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuStreamBeginCapture",
                  s->isDefault ? "the default stream cannot be captured"
                               : "the stream is captured already, or an illegal mode");
  if (refusesCapture("begin"))
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamBeginCapture", "refused");
  s->capture = std::make_shared<Capture>();
  s->capture->origin = s;
  s->capture->streams.insert(s);
  s->last.clear();
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, "cuStreamEndCapture");
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  *out = nullptr;
  if (!s->capture || s->capture->origin != s)
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "cuStreamEndCapture",
                  "the capture was not begun on this stream");
  std::shared_ptr<Capture> capture = s->capture;
  auto &nodes = capture->graph.nodes;
  std::vector<bool> before(nodes.size());
  auto visit = [&](auto &&self, int n) -> void {
    if (before[size_t(n)])
      return;
    before[size_t(n)] = true;
    for (int a : nodes[size_t(n)].after)
      self(self, a);
  };
  for (int n : s->last)
    visit(visit, n);
  for (Stream *each : capture->streams) {
    each->capture = nullptr;
    each->last.clear();
  }
  capture->origin = nullptr;
  if (capture->invalid || refusesCapture("end"))
    return failed(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamEndCapture", "the capture became invalid before");
  for (size_t n = 0; n < nodes.size(); ++n)
    if (!before[n])
      return failed(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "cuStreamEndCapture",
                    "work of another stream (" + nodes[n].work.what +
                        ") was captured that this stream does not wait for");
  auto graph = std::make_unique<Graph>(std::move(capture->graph));
  *out = reinterpret_cast<CUgraph>(graph.get());
  emulator().graphs[graph.get()] = std::move(graph);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuStreamIsCapturing(CUstream handle, int *out) {
  *out = isCapturing(handle) ? 1 : 0;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int current = 0;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long) {
  Lock lock(emulator().mutex);
  auto it = emulator().graphs.find(handle);
  if (it == emulator().graphs.end())
    return failed(CUDA_ERROR_INVALID_HANDLE, "cuGraphInstantiate", "no such graph");
  if (refusesCapture("graph"))
    return failed(CUDA_ERROR_NOT_SUPPORTED, "cuGraphInstantiate", "refused");
  auto exec = std::make_unique<Graph>(*it->second);
  *out = reinterpret_cast<CUgraphExec>(exec.get());
  emulator().execs[exec.get()] = std::move(exec);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *, size_t *count) {
  Lock lock(emulator().mutex);
  auto it = emulator().graphs.find(handle);
  if (it == emulator().graphs.end())
    return failed(CUDA_ERROR_INVALID_HANDLE, "cuGraphGetNodes", "no such graph");
  *count = it->second->nodes.size();
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuGraphDestroy(CUgraph handle) {
  Lock lock(emulator().mutex);
  return emulator().graphs.erase(handle) ? CUDA_SUCCESS
                                         : failed(CUDA_ERROR_INVALID_HANDLE, "cuGraphDestroy", "no such graph");
}
EMU_EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
  Lock lock(emulator().mutex);
  return emulator().execs.erase(handle) ? CUDA_SUCCESS
                                        : failed(CUDA_ERROR_INVALID_HANDLE, "cuGraphExecDestroy", "no such graph");
}
EMU_EXPORT CUresult cuGraphUpload(CUgraphExec, CUstream) { return CUDA_SUCCESS; }

namespace {
/// One run of a graph: a node runs once those before it are done; with SK_EMU_LAZY the
/// last of them that may.
struct GraphRun {
  std::shared_ptr<Graph> graph;
  std::vector<Running> running;
  std::vector<std::atomic<bool>> done; ///< Asked for while one runs.
  explicit GraphRun(std::shared_ptr<Graph> g) : graph(std::move(g)), done(graph->nodes.size()) {
    for (const GraphNode &node : graph->nodes)
      running.push_back(node.work.make());
  }
  bool wanted() const {
    for (size_t n = 0; n < running.size(); ++n)
      if (!done[n] && running[n].wanted && running[n].wanted())
        return true;
    return false;
  }
  Progress run() {
    size_t count = graph->nodes.size();
    for (bool any = true; any;) {
      any = false;
      for (size_t k = 0; k < count && !any; ++k) {
        size_t n = settings().lazy ? count - 1 - k : k;
        if (done[n])
          continue;
        bool ready = true;
        for (int a : graph->nodes[n].after)
          ready &= bool(done[size_t(a)]);
        if (!ready)
          continue;
        if (running[n].task() == Progress::Done)
          done[n] = any = true;
      }
    }
    for (const std::atomic<bool> &d : done)
      if (!d)
        return Progress::Later;
    return Progress::Done;
  }
};
} // namespace

EMU_EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  std::shared_ptr<Graph> graph;
  {
    Lock lock(emulator().mutex);
    auto it = emulator().execs.find(handle);
    if (it == emulator().execs.end())
      return failed(CUDA_ERROR_INVALID_HANDLE, "cuGraphLaunch", "no such graph");
    graph = std::make_shared<Graph>(*it->second);
  }
  auto make = [graph] {
    auto run = std::make_shared<GraphRun>(graph);
    bool any = false;
    for (const Running &r : run->running)
      any |= bool(r.wanted);
    std::function<bool()> wanted;
    if (any)
      wanted = [run] { return run->wanted(); };
    return Running{[run] { return run->run(); }, wanted};
  };
  return enqueue(stream, {"graph", make}, "cuGraphLaunch");
}
