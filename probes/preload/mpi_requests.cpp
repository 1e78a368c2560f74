#include "probes/preload/mpi_requests.h"

#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>

#include "probes/preload/mpi_collectives.h"
#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

struct UnderWay {
  std::mutex mutex;
  // Several collectives that were complete at once may have one and the same request.
  std::multimap<std::uintptr_t, PendingCall> calls;
  std::atomic<std::size_t> count{0};  // waits for messages only need not look
};

UnderWay& under_way() {
  static auto* const all = new UnderWay;  // outlives the program's own destructors
  return *all;
}

/// Whether the MPI that the program has makes requests of addresses. It alone has this object.
bool requests_are_addresses() {
  static const bool are = [] {
    Dl_info library{};
    if (::dladdr(find_function("PMPI_Wait"), &library) == 0) return true;
    void* const handle = ::dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    return handle != nullptr && ::dlsym(handle, "ompi_mpi_comm_world") != nullptr;
  }();
  return are;
}

std::uintptr_t request_at(const void* requests, int index) {
  if (requests_are_addresses()) return static_cast<const std::uintptr_t*>(requests)[index];
  return static_cast<std::uintptr_t>(static_cast<const int*>(requests)[index]);
}

}  // namespace

void begin(const void* request, const PendingCall& call) noexcept {
  UnderWay& all = under_way();
  const std::lock_guard lock(all.mutex);
  all.calls.emplace(request_at(request, 0), call);
  all.count = all.calls.size();
}

Requests::Requests(const void* requests, int count) noexcept {
  if (under_way().count == 0 || requests == nullptr) return;
  for (int index = 0; index < count; ++index) requests_.push_back(request_at(requests, index));
}

void Requests::complete(int index) const noexcept {
  if (index < 0 || static_cast<std::size_t>(index) >= requests_.size()) return;
  UnderWay& all = under_way();
  const std::lock_guard lock(all.mutex);
  const auto call = all.calls.find(requests_[static_cast<std::size_t>(index)]);
  if (call == all.calls.end()) return;
  call->second.end();
  all.calls.erase(call);
  all.count = all.calls.size();
}

void Requests::complete_all() const noexcept {
  for (std::size_t index = 0; index < requests_.size(); ++index) complete(static_cast<int>(index));
}

void Requests::forget() const noexcept {
  UnderWay& all = under_way();
  const std::lock_guard lock(all.mutex);
  for (const std::uintptr_t request : requests_) {
    if (const auto call = all.calls.find(request); call != all.calls.end()) all.calls.erase(call);
  }
  all.count = all.calls.size();
}

}  // namespace ddbench::inject::mpi
