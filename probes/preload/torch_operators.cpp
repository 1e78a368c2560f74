#include "probes/preload/torch_operators.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "probes/preload/original.h"
#include "probes/preload/session.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject {
namespace {

// As ATen/record_function.h has them from PyTorch 1.13 to 2.15; declared here, so that one build serves all.
struct ObserverContext {
  virtual ~ObserverContext() = default;
};
struct RecordFunction;
struct RecordFunctionCallback {
  std::unique_ptr<ObserverContext> (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, ObserverContext*);
  double sampling_probability = 1;
  // One for each kind of scope: the first is that of operators. Then come requests for more that it could
  // report, of which there are none; longer than any version's own list.
  std::array<bool, 32> scopes = {true};
};
using AddGlobalCallback = std::uint64_t(RecordFunctionCallback);
using NameOf = const char*(const RecordFunction*);

std::atomic<NameOf*> name_of_function_in_torch{nullptr};

// PyTorch's own operators alone: others, and the scopes in which it calls its users' code, may wait for a
// collective inside.
constexpr std::string_view kNamespace = "aten::";

bool copies(std::string_view name) {
  for (const std::string_view copy : {"copy_", "_to_copy", "to", "clone", "contiguous", "_foreach_copy_"}) {
    if (name.substr(kNamespace.size()) == copy) return true;
  }
  return false;
}

/// The operators that the thread is in: one may call others.
struct Nesting {
  int depth = 0;
  std::optional<Call> outermost;
};
thread_local Nesting nesting;

std::unique_ptr<ObserverContext> begin_operator(const RecordFunction& function) {
  Nesting& in = nesting;
  if (in.depth > 0) {
    ++in.depth;
    return nullptr;
  }
  // Of a child that was forked to load data, nothing is recorded.
  if (!recorder_is_open()) return nullptr;
  const char* const name = name_of_function_in_torch.load(std::memory_order_relaxed)(&function);
  if (std::strncmp(name, kNamespace.data(), kNamespace.size()) != 0) return nullptr;
  in.depth = 1;
  in.outermost.emplace(name, copies(name) ? SpanKind::kCopy : SpanKind::kCompute);
  return nullptr;
}

void end_operator(const RecordFunction&, ObserverContext*) {
  Nesting& in = nesting;
  if (in.depth > 0 && --in.depth == 0) in.outermost.reset();
}

bool wanted() {
  const bool has_gpu = ::access("/dev/nvidiactl", F_OK) == 0 || ::access("/dev/kfd", F_OK) == 0;
  const char* const chosen = std::getenv("DDBENCH_TORCH_OPERATORS");
  return !has_gpu && (chosen == nullptr || std::strcmp(chosen, "0") != 0);
}

}  // namespace

void watch_torch_operators() noexcept {
  static std::atomic<bool> watched{!wanted()};  // or not to be watched
  if (watched.load()) return;
  void* const add = find_function_if_any("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
  void* const name = find_function_if_any("_ZNK2at14RecordFunction4nameEv");
  if (add == nullptr || name == nullptr || watched.exchange(true)) return;
  name_of_function_in_torch.store(reinterpret_cast<NameOf*>(name));
  reinterpret_cast<AddGlobalCallback*>(add)({.start = begin_operator, .end = end_operator});
}

}  // namespace ddbench::inject
