// The rendezvous as a rank sees it.
#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/control/key_value_bytes.h"
#include "harness/launch/worker/worker_session.h"

namespace ddbench::launch {

void WorkerSession::set(const std::string& key, const collective::Bytes& value) {
  send(KvSet{key, value});
}

collective::Bytes WorkerSession::get(const std::string& key, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const std::uint64_t id = next_get_++;
  gets_[id];
  lock.unlock();
  send(KvGet{id, key});
  lock.lock();
  changed_.wait_for(lock, timeout, [&] { return gets_[id] || stopped_; });
  const std::optional<collective::Bytes> value = std::move(gets_[id]);
  gets_.erase(id);
  if (!value) fail_waiting(fmt::format("the key \"{}\" from a peer", key), timeout);
  return *value;
}

std::vector<collective::Bytes> WorkerSession::gather(KvGather request, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  request.id = next_get_++;
  gathers_[request.id];
  lock.unlock();
  send(request);
  lock.lock();
  changed_.wait_for(lock, timeout, [&] { return gathers_[request.id] || stopped_; });
  std::optional<KvParts> answer = std::move(gathers_[request.id]);
  gathers_.erase(request.id);
  if (!answer) fail_waiting(fmt::format("the keys \"{}\" of all {} ranks", request.prefix, request.count), timeout);
  if (!answer->error.empty()) throw Error(ErrorCode::kRunFailed, answer->error, 0, "rendezvous");
  std::vector<collective::Bytes> parts = parts_of(*answer);
  if (parts.size() != request.count)
    throw Error(ErrorCode::kRunFailed, "the launcher answered with another number of keys than it was asked for", 0, "rendezvous");
  return parts;
}

std::vector<collective::Bytes> WorkerSession::get_all(const std::string& prefix, int count, std::chrono::milliseconds timeout) {
  return gather({0, prefix, static_cast<std::uint32_t>(count), -1}, timeout);
}

std::vector<collective::Bytes> WorkerSession::get_column(const std::string& prefix, int count, int index,
                                                         std::chrono::milliseconds timeout) {
  return gather({0, prefix, static_cast<std::uint32_t>(count), index}, timeout);
}

}  // namespace ddbench::launch
