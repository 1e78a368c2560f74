// The engine's probe: CUPTI's, if available, and the pauses of NCCL's profiler plug-in, which records beside
// it.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "harness/plugin/module.h"
#include "harness/plugin/probes/open_cupti.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::probe {
namespace {

using cuda::CudaProbe;

/// Where CUPTI's probe cannot be opened: NCCL's profiler gets its ranges all the same.
class NoCupti final : public CudaProbe {
 public:
  explicit NoCupti(std::string why) : why_(std::move(why)) {}

  const std::string& unavailable() const noexcept override { return why_; }
  void push(const cuda::Range& range) noexcept override { inject::push_thread_range(range); }
  void pop() noexcept override { inject::pop_thread_range(); }
  bool follow_capture(bool /*follow*/) noexcept override { return false; }
  void set_enabled(bool /*enabled*/) noexcept override {}
  void flush() noexcept override {}
  cuda::ProbeCounters stop() noexcept override { return {}; }

 private:
  const std::string why_;
};

std::unique_ptr<CudaProbe> make_cupti_probe(host::Recorder& recorder) {
  try {
    return open_cupti()(recorder);
  } catch (const Error& error) {
    return std::make_unique<NoCupti>(error.message());
  }
}

/// The engine's recorder is the process's as long as the probe lives: NCCL's plug-in finds it there.
class EngineProbe final : public CudaProbe {
 public:
  explicit EngineProbe(host::Recorder& recorder) : probe_(make_cupti_probe(recorder)) {
    inject::adopt_recorder(&recorder);
  }
  ~EngineProbe() override { inject::adopt_recorder(nullptr); }

  const std::string& unavailable() const noexcept override { return probe_->unavailable(); }
  void push(const cuda::Range& range) noexcept override { probe_->push(range); }
  void pop() noexcept override { probe_->pop(); }
  bool records_graph_nodes() const noexcept override { return probe_->records_graph_nodes(); }
  void expect_graphs() noexcept override { probe_->expect_graphs(); }
  bool follow_capture(bool follow) noexcept override { return probe_->follow_capture(follow); }
  void pause_nccl_events(bool paused) noexcept override {
    is_paused_ = paused;
    switch_nccl();
  }
  void set_enabled(bool enabled) noexcept override {
    probe_->set_enabled(enabled);
    is_enabled_ = enabled;
    switch_nccl();
  }
  void flush() noexcept override { probe_->flush(); }
  cuda::ProbeCounters stop() noexcept override {
    const cuda::ProbeCounters counters = probe_->stop();
    inject::conclude_nccl_events();  // the communicator ends after the recorder
    return counters;
  }

 private:
  /// After a pause NCCL may report the times of earlier collectives (probes/cupti/README.md). None of them is
  /// needed: the engine's collectives have those of their kernels, or its own.
  void switch_nccl() noexcept { inject::pause_nccl_events(is_paused_ || !is_enabled_); }

  const std::unique_ptr<CudaProbe> probe_;
  std::atomic<bool> is_paused_ = false;
  std::atomic<bool> is_enabled_ = true;
};

/// NCCL reads the variable when the first communicator is made.
void choose_nccl_profiler() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&choose_nccl_profiler), &own) == 0 || own.dli_fname == nullptr) return;
  const auto plugin = std::filesystem::path(own.dli_fname).parent_path() / "ddbench_nccl_profiler.so";
  ::setenv("NCCL_PROFILER_PLUGIN", plugin.c_str(), 0);
}

std::unique_ptr<CudaProbe> make_probe(host::Recorder& recorder) {
  choose_nccl_profiler();
  return std::make_unique<EngineProbe>(recorder);
}

const module::ModuleEntry kEntry{module::kEntryLayout, kCudaProbeInterface,
                                 reinterpret_cast<void*>(&make_probe)};

}  // namespace
}  // namespace ddbench::probe

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &ddbench::probe::kEntry;
}
