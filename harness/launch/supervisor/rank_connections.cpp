#include "harness/launch/supervisor/rank_connections.h"

#include <poll.h>
#include <sys/epoll.h>

#include "core/error.h"

namespace ddbench::launch {

RankConnections::RankConnections(SupervisedRanks& ranks)
    : ranks_(ranks), epoll_(static_cast<int>(check_posix(::epoll_create1(EPOLL_CLOEXEC), "epoll"))) {}

/// Sends what a rank's connection takes, and brings the epoll up to date with it.
void RankConnections::update(SupervisedRank& rank) {
  const bool pending = rank.connected() && !rank.channel->flush();
  const int fd = rank.connected() ? rank.channel->fd() : -1;
  if (fd == rank.watched_fd && pending == rank.watched_for_sending) return;
  epoll_event event{};
  event.events = EPOLLIN | (pending ? EPOLLOUT : 0u);
  event.data.u32 = static_cast<std::uint32_t>(rank.record.rank);
  if (fd >= 0) {
    const int operation = rank.watched_fd < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    check_posix(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll");
  } else {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, rank.watched_fd, nullptr);
  }
  rank.watched_fd = fd;
  rank.watched_for_sending = pending;
}

std::vector<SupervisedRank*> RankConnections::wait(std::span<const int> others, std::chrono::milliseconds timeout) {
  for (SupervisedRank& rank : ranks_) update(rank);
  std::vector<pollfd> fds{{epoll_.get(), POLLIN, 0}};
  for (const int fd : others) fds.push_back({fd, POLLIN, 0});
  ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  std::vector<SupervisedRank*> senders;
  if (fds[0].revents == 0) return senders;
  std::vector<epoll_event> events(ranks_.size());
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) senders.push_back(&ranks_[event.data.u32]);
  }
  return senders;
}

}  // namespace ddbench::launch
