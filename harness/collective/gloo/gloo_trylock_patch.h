#pragma once

namespace ddbench::collective::gloo_backend {

/// From now on Gloo's I/O threads in this process wait for the lock of a connection, 1 ms at most, where Gloo
/// itself only tries it. Gloo asks epoll again at once when it finds the lock taken, which the I/O thread may
/// have to do until the scheduler's next tick (4 ms at 250 Hz) if it took its core from the very thread that
/// holds the lock. The wait is bounded because a holder may itself be waiting for the I/O thread.
///
/// DDBENCH_GLOO_TRYLOCK_PATCH=off leaves Gloo as it is (gloo_patch_switch.h); each run over Gloo stores which
/// it was. Gloo offers no hook: the reference to pthread_mutex_trylock of the library that holds Gloo is
/// replaced. Where that library has none (another build of Gloo), Gloo keeps its own behaviour. Thread-safe;
/// the first call does it.
void make_io_threads_wait_for_locks() noexcept;

}  // namespace ddbench::collective::gloo_backend
