#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// The functions by which a test controls and queries CUPTI on the host. Thread-safe, except for reset().
namespace ddbench::testing::cupti {

/// Records one behind the other, as they lie in one of CUPTI's buffers. Of strings only the pointers.
class Records {
 public:
  template <typename Record>
  Records& add(const Record& record) {
    static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % 8 == 0);
    return add(std::as_bytes(std::span(&record, 1)));
  }
  /// Of any kind; a multiple of 8 bytes long.
  Records& add(std::span<const std::byte> record);

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  /// Where each record begins, in bytes.
  const std::vector<std::size_t>& offsets() const noexcept { return offsets_; }
  std::span<const std::byte> record(std::size_t index) const;

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> offsets_;
};

/// Call before each test: no subscriber, nothing enabled, no failing call. No probe may exist.
void reset();

/// CUPTI has recorded this in a buffer that it asks for now and keeps until it is flushed. Records of kinds
/// and calls that are not enabled are none. False when it got no buffer: the records count as dropped.
bool record(const Records& records);
/// The same in a buffer that is full with it: it is handed over before this returns.
bool deliver(const Records& records);
/// Loses this many records, for any reason; reported with the next buffer.
void drop(std::size_t records);
/// Buffers that CUPTI holds.
std::size_t buffers_held();

/// The function of this name answers so from now on, and does nothing; CUPTI_SUCCESS: as usual again.
void fail(const std::string& function, CUptiResult result);
/// Calls that CUPTI refused ("cuptiSubscribe: 39"), apart from those that were to fail; oldest first.
std::vector<std::string> refusals();
/// So many calls of a function that succeeded.
std::size_t calls(const std::string& function);

/// The version that CUPTI says that it is; that of the build after reset(). Versions have their faults: one
/// before 130101 gives kernels of graphs wrong correlation ids once recording has begun again, and one before
/// 27 crashes (throws std::logic_error) when a buffer is refused.
void be_version(std::uint32_t version);
/// Somebody else has subscribed, under this name.
void be_held_by(const std::string& name);
/// Likewise, and it allows others (CUPTI 13.3): the client's times are then those of shared_time(), and its
/// calls those that name a subscriber.
void be_shared_with(const std::string& name);
/// The time of CUPTI's own clock, which runs kSharedClockBehind_ns behind now_ns().
std::uint64_t shared_time();
inline constexpr std::int64_t kSharedClockBehind_ns = 123'456'789'000;
/// The GPU is one whose hardware times kernels (cuptiActivityEnableHWTrace).
void be_blackwell();
bool times_in_hardware();
/// What cuptiGetCallbackName() calls a function of the runtime.
void name_call(CUpti_CallbackId runtime, const std::string& name);
/// Called by cuptiGetCallbackName().
void when_asked_for_a_name(std::function<void()> work);

bool has_subscriber();
std::set<CUpti_ActivityKind> enabled_kinds();
/// Whether there would be a record of such a call: its kind is enabled, and it was not excepted since.
bool records_call(CUpti_ActivityKind runtime_or_driver, CUpti_CallbackId call);
/// The time of the client's clock.
std::uint64_t timestamp();

/// External ids of kind CUSTOM0 that the calling thread has pushed, outermost first.
const std::vector<std::uint64_t>& external_ids();

/// A node of a graph that is captured, and its copy in an instantiated graph: reported to the subscriber on
/// the calling thread, if it has requested that. Ids are above 0.
void create_node(std::uint64_t id);
void clone_node(std::uint64_t original, std::uint64_t id);

}  // namespace ddbench::testing::cupti
