#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "core/threads/signals_blocked.h"

namespace ddbench {

/// For each i in [0, count): read(i) and consume(i, result) on the calling thread, in order of i, and between them, on another thread,
/// result = work(i, what read returned). At most `threads` are under way at a time, which bounds memory; with one or none, and where
/// the system makes no more threads, `work` too runs on the calling thread, just before its result is consumed. The threads take no
/// signals. `work` must be callable from several threads at once. An exception of any of the three ends the loop: it reaches the
/// caller when the work that is under way has ended.
template <typename Read, typename Work, typename Consume>
void pipeline(std::size_t count, std::size_t threads, const Read& read, const Work& work, const Consume& consume) {
  using Input = decltype(read(std::size_t{}));
  using Result = decltype(work(std::size_t{}, std::declval<Input>()));
  std::deque<std::future<Result>> under_way;
  const auto begin = [&](std::size_t i) {
    // Shared, so that it is still there when a thread could not be made.
    const auto run = [&work, i, input = std::make_shared<Input>(read(i))] { return work(i, std::move(*input)); };
    if (threads > 1) {
      const SignalsBlocked blocked;
      try {
        under_way.push_back(std::async(std::launch::async, run));
        return;
      } catch (const std::system_error&) {
      }
    }
    under_way.push_back(std::async(std::launch::deferred, run));
  };
  const std::size_t most = std::max<std::size_t>(threads, 1);
  for (std::size_t next = 0, at = 0; at < count; ++at) {
    for (; next < count && next < at + most; ++next) begin(next);
    Result result = under_way.front().get();
    under_way.pop_front();
    consume(at, std::move(result));
  }
}

}  // namespace ddbench
