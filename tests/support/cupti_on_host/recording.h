#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "cupti_on_host.h"
#include "probes/cuda/cuda_probe.h"

namespace ddbench::testing::cupti {

/// A recording of what CUPTI handed to a probe (probes/cupti/buffer_recording.h), which is handed to
/// another one through CUPTI on the host. It outlives that probe: CUPTI keeps the names of kernels.
class Recording {
 public:
  /// Throws std::runtime_error, with the offset, for what is no recording of this version. A last frame that
  /// is cut short is left out.
  explicit Recording(const std::filesystem::path& file);

  std::uint32_t built_with() const noexcept { return built_with_; }  ///< CUPTI_API_VERSION
  std::uint32_t ran_with() const noexcept { return ran_with_; }
  /// Whether its records are laid out as this build reads them.
  bool fits() const noexcept;

  /// Everything in its order, on the calling thread: ranges are pushed and popped, nodes created in theirs,
  /// buffers delivered. The number of records. Kernels that NCCL's own threads started find no collective:
  /// those are found by time.
  std::size_t replay(cuda::CudaProbe& probe);

 private:
  class Reader;
  void replay_node(Reader& frame, cuda::CudaProbe& probe) const;
  std::size_t replay_buffer(Reader& frame) const;

  std::string bytes_;
  std::uint32_t built_with_ = 0;
  std::uint32_t ran_with_ = 0;
  std::deque<std::string> strings_;
  std::map<std::uint64_t, std::uint64_t> ids_;  ///< that the probe gives, by those in the recording
};

}  // namespace ddbench::testing::cupti
