#include "probes/preload/mpi/requests.h"

#include <atomic>
#include <map>
#include <mutex>

#include "probes/preload/mpi/library.h"

namespace ddbench::inject::mpi {
namespace {

struct KnownRequests {
  std::mutex mutex;
  // Several collectives that were complete at once may have one and the same request.
  std::multimap<std::uintptr_t, PendingCall> calls;
  std::map<std::uintptr_t, Collective> persistent;  // with the key of the next start
  std::atomic<std::size_t> count{0};                // waits for messages only need not look

  void recount() { count = calls.size() + persistent.size(); }
};

KnownRequests& known_requests() {
  static auto* const all = new KnownRequests;  // outlives the program's own destructors
  return *all;
}

}  // namespace

void begin(std::uintptr_t request, const PendingCall& call) noexcept {
  KnownRequests& all = known_requests();
  const std::lock_guard lock(all.mutex);
  all.calls.emplace(request, call);
  all.recount();
}

void initialise(std::uintptr_t request, const Collective& collective) noexcept {
  KnownRequests& all = known_requests();
  const std::lock_guard lock(all.mutex);
  all.persistent.insert_or_assign(request, collective);
  all.recount();
}

Requests::Requests(Handle request) noexcept {
  if (entry_.is_recorded()) requests_.push_back(reinterpret_cast<std::uintptr_t>(same_word(request)));
}

Requests::Requests(CRequests requests, int count) noexcept {
  if (!entry_.is_recorded() || known_requests().count == 0 || requests.at == nullptr) return;
  for (int index = 0; index < count; ++index)
    requests_.push_back(reinterpret_cast<std::uintptr_t>(handle_at(requests.at, index)));
}

Requests::Requests(FortranRequests requests, int count) noexcept {
  if (!entry_.is_recorded() || known_requests().count == 0 || requests.at == nullptr) return;
  for (int index = 0; index < count; ++index)
    requests_.push_back(
        reinterpret_cast<std::uintptr_t>(handle_of_fortran(requests.at[index], "PMPI_Request_f2c")));
}

void Requests::complete(int index) const noexcept {
  if (index < 0 || static_cast<std::size_t>(index) >= requests_.size()) return;
  KnownRequests& all = known_requests();
  const std::lock_guard lock(all.mutex);
  // The last that was begun: what another one of this request became may not have been seen.
  const std::uintptr_t request = requests_[static_cast<std::size_t>(index)];
  auto call = all.calls.upper_bound(request);
  if (call == all.calls.begin() || (--call)->first != request) return;
  call->second.end();
  all.calls.erase(call);
  all.recount();
}

void Requests::complete_all() const noexcept {
  for (std::size_t index = 0; index < requests_.size(); ++index) complete(static_cast<int>(index));
}

void Requests::forget() const noexcept {
  KnownRequests& all = known_requests();
  const std::lock_guard lock(all.mutex);
  for (const std::uintptr_t request : requests_) {
    if (const auto call = all.calls.find(request); call != all.calls.end()) all.calls.erase(call);
    all.persistent.erase(request);
  }
  all.recount();
}

std::vector<std::pair<std::uintptr_t, PendingCall>> Requests::start() const noexcept {
  std::vector<std::pair<std::uintptr_t, PendingCall>> calls;
  KnownRequests& all = known_requests();
  const std::lock_guard lock(all.mutex);
  for (const std::uintptr_t request : requests_) {
    const auto found = all.persistent.find(request);
    if (found == all.persistent.end()) continue;
    calls.emplace_back(request, PendingCall(found->second));
    ++found->second.correlation;
  }
  return calls;
}

}  // namespace ddbench::inject::mpi
