// What the driver loads into a program, over CUPTI on the host.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/facts/facts.h"
#include "cupti_life.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/preload/session/kernel_probe.h"
#include "probes/preload/session/process_recorder.h"

extern "C" int InitializeInjection();

namespace ddbench::cuda {
namespace {

class CuptiInjection : public CuptiLife {
 protected:
  CuptiInjection() { recorder_.stop(); }  // no thread but this one forks

  /// A program of the user's: a rank, into which the driver loads the probe twice, and which ends in order.
  template <typename Program>
  RecordedSpans spool_of(const Program& program, void (*before_it)() = [] {}) {
    const pid_t child = ::fork();
    if (child == 0) {
      before_it();
      ::setenv("DDBENCH_SPOOL", (directory_.path() / "program").c_str(), 1);
      ::setenv("DDBENCH_RANK", "0", 1);
      ::setenv("DDBENCH_RUN_ID", "test", 1);
      const bool is_well = InitializeInjection() == 1 && InitializeInjection() == 1;
      program();
      std::exit(is_well ? 0 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    const auto spool = directory_.path() / ("program." + std::to_string(child) + ".spool");
    const host::SpoolBatch batch = host::SpoolReader(spool).read();
    EXPECT_TRUE(batch.ended);
    names_ = batch.new_names;
    return read_spans(spool);
  }
  std::vector<std::string> names_;
};

TEST_F(CuptiInjection, AProgramsLastKernelsAreInItsSpool) {
  const RecordedSpans read = spool_of([] {
    cupti::record(cupti::Records().add(kernel("last", 0, 10, 20)));  // flushed when the program ends
  });
  ASSERT_EQ(read.spans.size(), 1u);
  EXPECT_EQ(read["last"].end_ns, 20);
  EXPECT_EQ(read.scalars.at("cupti.records"), 1);
}

TEST_F(CuptiInjection, TheLastKernelsOfAWindowAreInItsSpoolAndLaterOnesAreNot) {
  const RecordedSpans read = spool_of([] {
    cupti::record(cupti::Records().add(kernel("last", 0, 10, 20)));
    inject::end_recording();  // as measuring_window.cpp does
    cupti::record(cupti::Records().add(kernel("later", 1, 30, 40)));
    if (cupti::has_subscriber()) ::_exit(4);
    if (cupti::timestamp() < 1'500'000'000'000'000'000) ::_exit(5);  // as a profiler of the program's own expects: ns since 1970
  });
  ASSERT_EQ(read.spans.size(), 1u);
  EXPECT_EQ(read["last"].end_ns, 20);
  EXPECT_EQ(read.scalars.at("cupti.records"), 1);
}

pid_t process_with_the_probe = 0;

TEST_F(CuptiInjection, AForkedChildLeavesCuptiAlone) {
  const RecordedSpans read = spool_of([] {
    process_with_the_probe = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      inject::conclude_kernels();
      std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) ::_exit(6);
    cupti::record(cupti::Records().add(kernel("last", 0, 10, 20)));
  }, [] {
    // Registered before the probe, so that it runs after the probe's handler.
    std::atexit([] {
      if (process_with_the_probe != ::getpid()) ::_exit(cupti::has_subscriber() ? 7 : 8);
    });
  });
  EXPECT_EQ(read.spans.size(), 1u);
}

TEST_F(CuptiInjection, AProgramGoesOnWhereAnotherToolHoldsCupti) {
  cupti::fail("cuptiSubscribe", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_TRUE(spool_of([] {}).spans.empty());
  std::erase_if(names_, [](const std::string& name) { return !name.starts_with("cupti."); });
  ASSERT_EQ(names_.size(), 1u);
  EXPECT_TRUE(names_[0].starts_with(reported(fact_key<"cupti.unavailable">, "another tool"))) << names_[0];
}

}  // namespace
}  // namespace ddbench::cuda
