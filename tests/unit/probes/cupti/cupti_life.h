#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cupti_on_host.h"
#include "probes/cupti/cupti_probe.h"
#include "probes/recorder/spool.h"
#include "tests/unit/probes/recorder/temp_directory.h"

namespace ddbench::cuda {

namespace cupti = testing::cupti;

/// What a probe over CUPTI on the host wrote into a spool.
struct RecordedSpans {
  struct Named {
    std::string name;
    Span span;
  };
  std::vector<Named> spans;  ///< in the order of the spool
  std::map<std::string, double> scalars;

  /// The only one of a name.
  Span operator[](const std::string& name) const {
    Span found;
    int seen = 0;
    for (const Named& named : spans) {
      if (named.name != name) continue;
      found = named.span;
      ++seen;
    }
    EXPECT_EQ(seen, 1) << name;
    return found;
  }
};

/// Reads a whole spool, which has ended.
inline RecordedSpans read_spans(const std::filesystem::path& spool) {
  const host::SpoolBatch batch = host::SpoolReader(spool).read();
  RecordedSpans read;
  for (const Span& span : batch.spans) read.spans.push_back({batch.new_names.at(span.name_id), span});
  for (const host::Scalar& scalar : batch.scalars) {
    read.scalars[batch.new_names.at(scalar.name_id)] = scalar.value;
  }
  return read;
}

/// A fresh CUPTI, and a recorder. CUPTI may refuse none of the probe's requests.
class CuptiLife : public ::testing::Test {
 protected:
  CuptiLife() { cupti::reset(); }

  void TearDown() override {
    EXPECT_EQ(cupti::refusals(), std::vector<std::string>());
    EXPECT_FALSE(cupti::has_subscriber()) << "CUPTI was not let go";
    EXPECT_TRUE(cupti::external_ids().empty());
  }

  RecordedSpans recorded() {
    recorder_.stop();
    return read_spans(directory_.path() / "rank0.spool");
  }

  /// A call of a thread: with the external id of its range, which CUPTI reports before the call itself.
  static cupti::Records call(std::uint32_t number, std::uint64_t begin, std::uint64_t end,
                             CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                             CUpti_CallbackId function = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) {
    cupti::Records records;
    if (!cupti::external_ids().empty()) {
      CUpti_ActivityExternalCorrelation external{};
      external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
      external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
      external.externalId = cupti::external_ids().back();
      external.correlationId = number;
      records.add(external);
    }
    CUpti_ActivityAPI api{};
    api.kind = kind;
    api.cbid = function;
    api.correlationId = number;
    api.start = begin;
    api.end = end;
    return records.add(api);
  }
  /// What the device does for a call. Names of kernels live as long as the process.
  static KernelRecord kernel(const char* name, std::uint32_t call, std::uint64_t begin, std::uint64_t end,
                             std::uint64_t node = 0) {
    KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = name;
    kernel.graphNodeId = node;
    return timed(kernel, call, begin, end);
  }
  template <typename Record>
  static Record transfer(CUpti_ActivityKind kind, std::uint64_t bytes, std::uint32_t call,
                         std::uint64_t begin, std::uint64_t end) {
    Record record{};
    record.kind = kind;
    record.bytes = bytes;
    return timed(record, call, begin, end);
  }
  template <typename Record>
  static Record timed(Record record, std::uint32_t call, std::uint64_t begin, std::uint64_t end) {
    record.correlationId = call;
    record.start = begin;
    record.end = end;
    return record;
  }
  static bool deliver_kernel(const char* name, std::uint64_t begin, std::uint64_t end) {
    return cupti::deliver(cupti::Records().add(kernel(name, 0, begin, end)));
  }

  const testing::TempDirectory directory_;
  host::Recorder recorder_{{directory_.path() / "rank0.spool", 1u << 14, 0, "test"}};
};

}  // namespace ddbench::cuda
