#pragma once

/// NCCL loads its profiler plug-in (probes/nccl) itself: through this interface the plug-in is reached by the
/// owners of its recorder, and of the graphs in which its collectives are captured. In ddbench_session.so.
namespace ddbench::inject {

struct NcclPlugin {
  /// Records what is under way, and what was counted so far: the recorder is about to stop.
  void (*conclude)() noexcept = nullptr;
  /// While true, NCCL reports nothing about collectives that are enqueued.
  void (*pause)(bool paused) noexcept = nullptr;
};

/// `plugin` lives as long as the process.
__attribute__((visibility("default"))) void set_nccl_plugin(const NcclPlugin* plugin) noexcept;
/// The calls below do nothing where NCCL has loaded no plug-in. A forked child starts without one.
__attribute__((visibility("default"))) void conclude_nccl_events() noexcept;
__attribute__((visibility("default"))) void pause_nccl_events(bool paused) noexcept;

/// Whether the times of this process's kernels are being recorded (probes/cupti): NCCL is then not asked for
/// them, too.
__attribute__((visibility("default"))) void note_kernels_recorded(bool recorded) noexcept;
__attribute__((visibility("default"))) bool kernels_are_recorded() noexcept;

}  // namespace ddbench::inject
