// What CUPTI hands to the probe, with any values and in any order, over the stand-in for CUPTI.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "cupti_on_host.h"
#include "fuzz_targets.h"
#include "probes/cupti/cupti_probe.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "script.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

namespace cupti = testing::cupti;

constexpr std::size_t kMostNames = 4096;
constexpr int kMostRanges = 64;  // that are open at once

/// CUPTI keeps names of kernels as long as the process lives.
const char* kept(std::string_view name) {
  static std::set<std::string, std::less<>> names;
  if (names.size() >= kMostNames) return "another_kernel";
  return names.emplace(name).first->c_str();
}

const char* name_from(ByteCursor& input) {
  static constexpr std::array kNames = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv",
                                        "ncclKernel_Unknown_Thing", "gemm"};
  const auto choice = input.take<std::uint8_t>();
  if (choice == 0) return nullptr;
  return choice <= kNames.size() ? kNames[choice - 1u] : kept(input.text(choice % 64u));
}

/// A session of the probe, as the bytes of an input say.
class Session {
 public:
  Session(host::Recorder& recorder, ByteCursor input) : probe_(recorder), input_(input) {}

  void run() {
    while (!input_.at_end()) act(input_.take<std::uint8_t>());
    cupti::deliver(records_);
    while (open_ranges_ > 0) close_range();
    if (captures_) probe_.follow_capture(false);
    if (!enabled_) probe_.set_enabled(true);
    probe_.stop();
  }

 private:
  void act(std::uint8_t action) {
    switch (action % 16) {
      case 0: return open_range();
      case 1: return close_range();
      case 2: return static_cast<void>(probe_.follow_capture(captures_ = !captures_));
      case 3: return cupti::create_node(1u + input_.take<std::uint16_t>());
      case 4: return clone_node();
      case 5: return probe_.set_enabled(enabled_ = !enabled_);
      case 6: return probe_.flush();
      case 7: return cupti::drop(input_.take<std::uint8_t>());
      case 8: return deliver();
      case 9: return add_named<cuda::KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
      case 10: return add_named<cuda::MarkerRecord>(CUPTI_ACTIVITY_KIND_MARKER);
      case 11: return add<CUpti_ActivityAPI>((input_.take<std::uint8_t>() % 2 != 0) ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER);
      case 12: return add_external();
      case 13: return add<cuda::MemcpyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY);
      case 14: return add<cuda::MemsetRecord>(CUPTI_ACTIVITY_KIND_MEMSET);
      default: return add_other();
    }
  }

  void open_range() {
    if (open_ranges_ == kMostRanges) return;
    cuda::Range range;
    range.kind = static_cast<SpanKind>(input_.take<std::uint8_t>() % (static_cast<unsigned>(SpanKind::kNcclEvent) + 1));
    range.step = input_.take<std::uint32_t>();
    range.bucket = input_.take<std::uint16_t>();
    range.bytes = input_.take<std::uint64_t>();
    range.correlation = input_.take<std::uint64_t>();
    probe_.push(range);
    ++open_ranges_;
  }
  void close_range() {
    if (open_ranges_ == 0) return;
    probe_.pop();
    --open_ranges_;
  }
  void clone_node() {
    const auto original = input_.take<std::uint16_t>();
    cupti::clone_node(1u + original, 1u + input_.take<std::uint16_t>());
  }
  void deliver() {
    cupti::deliver(records_);
    records_ = {};
  }

  template <typename Record>
  void add(CUpti_ActivityKind kind) {
    Record record{};
    input_.fill(record);
    record.kind = kind;
    records_.add(record);
  }
  template <typename Record>
  void add_named(CUpti_ActivityKind kind) {
    Record record{};
    input_.fill(record);
    record.kind = kind;
    record.name = name_from(input_);
    records_.add(record);
  }
  /// Mostly of a range that is there.
  void add_external() {
    CUpti_ActivityExternalCorrelation external{};
    input_.fill(external);
    external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    if (!cupti::external_ids().empty() && external.externalId % 4 != 0) external.externalId = cupti::external_ids().back();
    records_.add(external);
  }
  void add_other() {
    switch (input_.take<std::uint8_t>() % 3) {
      case 0: return add<cuda::PeerCopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY2);
      case 1: return add<cuda::OverheadRecord>(CUPTI_ACTIVITY_KIND_OVERHEAD);
      default: return add<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_INVALID);
    }
  }

  cuda::CuptiProbe probe_;
  ByteCursor input_;
  cupti::Records records_;
  int open_ranges_ = 0;
  bool captures_ = false;
  bool enabled_ = true;
};

/// What the probe recorded can be read back, and CUPTI refused none of its calls but for names that it does not have.
void record_cupti(Bytes bytes) {
  static const test::TemporaryDirectory directory;
  const std::filesystem::path spool = directory / "rank0.spool";
  std::filesystem::remove(spool);
  ByteCursor input(bytes);
  cupti::reset();
  if (input.take<std::uint8_t>() % 2 != 0) cupti::be_version(input.take<std::uint32_t>() % 200'000);
  {
    host::Recorder recorder({spool, 1u << 10, 0, "fuzz"});
    Session(recorder, input).run();
    recorder.stop();
  }
  for (const std::string& refusal : cupti::refusals()) {
    if (refusal.starts_with("cuptiGetCallbackName")) continue;  // of a call that this CUPTI does not know
    std::fprintf(stderr, "refused: %s\n", refusal.c_str());
    std::abort();
  }
  if (cupti::has_subscriber()) std::abort();
  host::SpoolReader(spool).read();  // leaves out spans of times that no clock shows
}

}  // namespace

const Target kCuptiRecords{"cupti_records", record_cupti};

}  // namespace ddbench::fuzz
