#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ddbench::cuda {

/// CUPTI, as one of its subscribers. Alone as a rule. If another tool has subscribed, beside it: CUPTI from
/// 13.3 on allows several with a recent driver, if the other tool allows it too. Then each has its own kinds
/// of records, buffers and external ids, but times are on CUPTI's clock. Thread-safe after take().
class Subscription {
 public:
  /// Empty once subscribed; otherwise the reason, which names the holder where CUPTI does.
  std::string take(CUpti_CallbackFunc callback, void* user);
  void end() noexcept;

  bool is_shared() const noexcept { return is_shared_; }
  /// The name of the first subscriber; empty where it is this one, or not known.
  const std::string& holder() const noexcept { return holder_; }
  CUpti_SubscriberHandle handle() const noexcept { return handle_; }

  using RequestBuffer = CUpti_BuffersCallbackRequestFunc;
  using CompleteBuffer = CUpti_BuffersCallbackCompleteFunc;
  /// Times of records are those of `clock`, unless the subscription is shared. One pair of callbacks in a process.
  /// The buffers are zeroed: unless the subscription is shared, CUPTI does not do so itself.
  CUptiResult receive(RequestBuffer request, CompleteBuffer complete, CUpti_TimestampCallbackFunc clock);
  CUptiResult enable(CUpti_ActivityKind kind, bool on) noexcept;
  CUptiResult leave_out(CUpti_runtime_api_trace_cbid call) noexcept;
  CUptiResult leave_out(CUpti_driver_api_trace_cbid call) noexcept;
  void push(std::uint64_t external_id) noexcept;
  void pop() noexcept;
  CUptiResult next_record(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) noexcept;
  /// Since the last call; 0 where it cannot be known.
  std::size_t take_dropped(CUcontext context, std::uint32_t stream) noexcept;
  /// now_ns() minus CUPTI's clock; 0 for one that is not shared; nothing where CUPTI does not say its time. The uncertainty is below
  /// what the shortest of some queries takes.
  std::optional<std::int64_t> clock_offset_ns() const noexcept;

 private:
  CUptiResult subscribe_alone(CUpti_CallbackFunc callback, void* user);
  CUptiResult subscribe_beside(CUpti_CallbackFunc callback, void* user);
  static void leave_as_it_was() noexcept;

  CUpti_SubscriberHandle handle_ = nullptr;
  bool is_shared_ = false;
  std::string holder_;
};

/// "CUPTI cannot WHAT: CUPTI_ERROR_... (number)".
std::string cupti_failure(CUptiResult result, const char* what);

}  // namespace ddbench::cuda
