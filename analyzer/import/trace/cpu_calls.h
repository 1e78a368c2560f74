#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/span.h"

namespace ddbench::imports {

enum class CallKind : std::uint8_t {
  kOperator,      ///< of PyTorch's own ("aten::"), that computes
  kCopyOperator,  ///< an operator that copies
  kOther,         ///< another operator
  kBackward,      ///< a function that the autograd engine evaluates
  kForward,       ///< a range that is all forward
  kOptimizer,
  kLaunch,      ///< a call of CUDA or HIP
  kWait,        ///< one that waits for the GPU
  kDataWait,    ///< the loop asks its loader for a batch
  kCollective,  ///< the call that enqueues a collective
};

/// What a thread did on the CPU. 32 bytes.
struct CpuCall {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// kLaunch: 1 + the correlation; operators: 1 + the number that autograd gave; kCollective: what the caller wants; else 0.
  std::uint64_t id = 0;
  std::uint32_t name_id = 0;
  std::uint16_t thread = 0;  ///< counted by the caller
  CallKind kind = CallKind::kOther;
};
static_assert(sizeof(CpuCall) == 32);

/// From where a kernel was launched.
struct Launch {
  std::uint64_t correlation = 0;
  std::int64_t begin_ns = 0;
  std::uint64_t collective = 0;              ///< CpuCall::id of the kCollective around it; 0: none
  SpanKind phase = SpanKind::kCompute;  ///< kForward, kBackward, kOptimizer; kCompute: not known which
};

/// What the calls of all threads are, with respect to each other. A call lies in those of its thread that are open when it
/// begins. What lies in a function of the engine is backward, in an optimizer the optimizer, in a forward range or in an
/// operator for which the engine later ran one with the same number forward: of several the innermost, but what backward
/// computes again is backward.
struct CallTree {
  std::vector<Launch> launches;  ///< by correlation, ascending
  /// kOperator and kCopyOperator that lie in no other such: kForward, ..., kCompute, kCopy. By thread and time.
  std::vector<Span> operators;
  std::vector<Span> data_waits;
  /// Where threads that hold steps or backward are in operators or launch, and do not wait for the GPU: kHost.
  std::vector<Span> host;
};

/// `backward_ids`: CpuCall::id of operators that the engine ran. `step_threads`: those that hold marks of steps. Sorts
/// `calls`. The spans of `host` and `data_waits` have name id 0. O(n log n).
CallTree build_call_tree(std::vector<CpuCall>& calls, const std::unordered_set<std::uint64_t>& backward_ids,
                         std::unordered_set<std::uint16_t> step_threads);

}  // namespace ddbench::imports
