#pragma once

/// What records the kernels of this process's GPUs (probes/cupti) is reached through this by the owner of its
/// recorder. In ddbench_session.so.
namespace ddbench::inject {

/// `conclude`: records what the GPUs have been given so far, and nothing from then on. nullptr: there is none any more.
__attribute__((visibility("default"))) void set_kernel_probe(void (*conclude)() noexcept) noexcept;

/// The recorder is about to stop while the program goes on. Does nothing without a probe; a forked child starts without one.
__attribute__((visibility("default"))) void conclude_kernels() noexcept;

}  // namespace ddbench::inject
