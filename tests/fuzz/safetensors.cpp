#include "harness/training/checkpoint/safetensors.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"
#include "core/unique_handle.h"
#include "fuzz_targets.h"

namespace ddbench::fuzz {
namespace {

void read_safetensors(Bytes input) {
  const UniqueFd memory(::memfd_create("safetensors", MFD_CLOEXEC));
  if (::write(memory.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
  try {
    const ddp::SafetensorsFile file(fmt::format("/proc/self/fd/{}", memory.get()));
    file.check_data();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) std::abort();
  }
}

}  // namespace

const Target kSafetensors{"safetensors", read_safetensors};

}  // namespace ddbench::fuzz
