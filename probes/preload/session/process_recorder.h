#pragma once

#include <mutex>

#include "probes/recorder/recorder.h"

/// The one recorder of a process that ddbench's shared objects (interposers, NCCL's profiler plug-in, the
/// CUDA probe) record into, in whatever order and by whomever they are loaded. It lives in
/// ddbench_session.so, which all of them link: the dynamic linker keeps one copy a process. Nothing here
/// throws.
namespace ddbench::inject {

#define DDBENCH_SESSION_API __attribute__((visibility("default")))

/// Keeps the process's recorder from being taken away while it lives. Opens the recorder's spool,
/// $DDBENCH_SPOOL.<pid>.spool, on first use in a rank's process (DDBENCH_RUN_ID and a launcher's rank are
/// set). Null in other processes, and when the spool cannot be written. Hold it for a moment only.
class DDBENCH_SESSION_API RecorderAccess {
 public:
  RecorderAccess() noexcept;
  /// Opens a spool even in a process that is not a rank of a run: rank<N>.<pid>.spool in $DDBENCH_SPOOL_DIR
  /// or the working directory, where N is the launcher's rank, or else `rank`. In a process of a run whose rank is
  /// not known: $DDBENCH_SPOOL.<pid>.spool, of `rank`.
  explicit RecorderAccess(int rank) noexcept;
  host::Recorder* get() const noexcept { return recorder_; }
  /// Changes whenever the recorder does (a fork, adopt_recorder): tracks and name ids of another generation
  /// are void. Never 0.
  unsigned generation() const noexcept { return generation_; }

 private:
  std::unique_lock<std::mutex> lock_;
  host::Recorder* recorder_ = nullptr;
  unsigned generation_ = 0;
};

/// The program consists of the file `name`, relative to `folder`, as well (core/program_file.h), as it is now.
DDBENCH_SESSION_API void report_program_file(const char* folder, const char* name) noexcept;

/// `name` as what the process trains, and on what: the fact workload.gradient_bytes, a LoaderEpoch or a RankGpu (core/program). False
/// for another name, or where nothing is recorded.
DDBENCH_SESSION_API bool report_inputs(const char* name) noexcept;

/// Whether the process has a recorder now. Opens none, takes no lock.
DDBENCH_SESSION_API bool recorder_is_open() noexcept;

/// The process and its forked children record nothing from now on, and open no other spool. What the process recorded, and what
/// its GPUs still do, is written, and its spool has its end.
DDBENCH_SESSION_API void end_recording() noexcept;

/// The generation now, without a lock.
DDBENCH_SESSION_API unsigned recorder_generation() noexcept;

/// From now on the process's recorder is that of its program (a rank of the reference engine); nullptr
/// removes it again, once it is no longer used, and no other one is opened.
DDBENCH_SESSION_API void adopt_recorder(host::Recorder* recorder) noexcept;

}  // namespace ddbench::inject
