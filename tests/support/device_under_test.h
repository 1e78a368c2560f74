#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "harness/device/device.h"

namespace ddbench::test {

/// The device that tests of operators use: "cpu", or the one that $DDBENCH_TEST_DEVICE names. A GPU's
/// operators are called on copies of the tensors, which are in host memory as on the CPU: tests need not
/// distinguish. A test executable for a GPU on a machine without one ends at its start with the exit code 77
/// and prints "skipped: no GPU".
std::unique_ptr<device::Device> device_under_test();

/// The same device without the copies: its memory need not be the host's.
std::unique_ptr<device::Device> bare_device_under_test();

/// How much work of a kind has been queued since the process started ("kernels", "products": tests/support/cuda_on_host);
/// nullopt where the device is not one that runs on the host in place of a GPU.
std::optional<std::uint64_t> work_on_host(const char* kind);

/// Whether it refuses indices and labels that are none; a GPU, which would have to wait for them, makes the
/// result NaN.
bool refuses_wrong_indices();

}  // namespace ddbench::test
