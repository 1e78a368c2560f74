// What comes from the ranks and their processes, and when.
#include <poll.h>
#include <sys/epoll.h>

#include "core/error.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {

using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // at most between two looks at everything

}  // namespace

/// Brings the epoll up to date with a rank's connection.
void Supervisor::watch(SupervisedRank& rank) {
  if (rank.channel && rank.channel->overrun()) on_lost(rank);
  const bool pending = rank.connected() && !rank.channel->flush();
  const int fd = rank.connected() ? rank.channel->fd() : -1;
  if (fd == rank.watched_fd && pending == rank.watched_for_sending) return;
  epoll_event event{};
  event.events = EPOLLIN | (pending ? EPOLLOUT : 0u);
  event.data.u32 = static_cast<std::uint32_t>(rank.record.rank);
  if (fd >= 0) {
    const int operation = rank.watched_fd < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    check_posix(::epoll_ctl(watched_.get(), operation, fd, &event), "epoll");
  } else {
    ::epoll_ctl(watched_.get(), EPOLL_CTL_DEL, rank.watched_fd, nullptr);
  }
  rank.watched_fd = fd;
  rank.watched_for_sending = pending;
}

void Supervisor::wait_for_news() {
  for (SupervisedRank& rank : ranks_) watch(rank);
  std::vector<pollfd> fds{{watched_.get(), POLLIN, 0}};
  for (const int fd : processes_.watched()) fds.push_back({fd, POLLIN, 0});
  ::poll(fds.data(), fds.size(), static_cast<int>(kLook.count()));
  std::vector<epoll_event> events(ranks_.size());
  const int count = fds[0].revents == 0 ? 0 : ::epoll_wait(watched_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_rank(ranks_[event.data.u32]);
  }
}

void Supervisor::read_rank(SupervisedRank& rank) {
  if (!rank.connected()) return;
  std::vector<Message> messages;
  try {
    messages = rank.channel->read_available();
  } catch (const Error& error) {
    fail(rank, ": " + error.message(), true);
  }
  // Outside of the try: an observer's Error is not the rank's.
  for (const Message& message : messages) {
    if (rank.channel->overrun()) return;  // the rest would be answered in vain
    rank.last_heard = Clock::now();
    std::visit([&](const auto& alternative) { on(rank, alternative); }, message);
  }
  if (rank.channel->closed()) on_lost(rank);
}

}  // namespace ddbench::launch
