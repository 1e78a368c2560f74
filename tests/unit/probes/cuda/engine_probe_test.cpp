// The engine's probe and NCCL's plug-in, which meet in ddbench_session.so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "harness/plugin/module.h"
#include "harness/plugin/probes/open_cuda_probe.h"
#include "probes/preload/session/nccl_plugin.h"
#include "tests/unit/probes/recorder/temp_directory.h"

namespace ddbench {
namespace {

int concluded = 0;
std::vector<bool> pauses;
constexpr inject::NcclPlugin kPlugin{[]() noexcept { ++concluded; },
                                     [](bool paused) noexcept { pauses.push_back(paused); }};

TEST(EngineProbe, PausesNcclsEventsAndConcludesThemBeforeTheRecorderStops) {
  const testing::TempDirectory directory;
  host::Recorder recorder({directory.path() / "rank0.spool", 1024, 0, "test"});
  ::setenv("DDBENCH_MODULE_DIR", DDBENCH_MODULES, 0);
  auto* const make = module::open_module<probe::CudaProbeFactory>(
      {probe::kCudaProbeFile, probe::kCudaProbeInterface, "the probe", "CUPTI", "CUPTI"});
  const auto probe = make(recorder);
  inject::set_nccl_plugin(&kPlugin);
  { const cuda::NcclEventsPaused paused(probe.get()); }
  { const cuda::NcclEventsPaused no_probe(nullptr); }
  EXPECT_EQ(pauses, (std::vector<bool>{true, false}));
  pauses.clear();
  probe->set_enabled(false);  // a probe-off window, in which a graph is captured
  { const cuda::NcclEventsPaused paused(probe.get()); }
  EXPECT_EQ(pauses, (std::vector<bool>{true, true, true}));
  probe->set_enabled(true);
  EXPECT_FALSE(pauses.back());
  EXPECT_EQ(concluded, 0);
  probe->stop();
  EXPECT_EQ(concluded, 1);
  inject::set_nccl_plugin(nullptr);
  probe->stop();
  EXPECT_EQ(concluded, 1);
}

}  // namespace
}  // namespace ddbench
