#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <utility>

namespace ddbench {

/// For each i in [0, count): read(i) and consume(i, result) on the calling thread, in order of i, and between them, on another thread,
/// result = work(i, what read returned). At most `threads` are under way at a time, which bounds memory; with one, everything happens
/// on the calling thread. `work` must be callable from several threads at once. An exception of any of the three ends the loop and
/// reaches the caller after the threads have ended.
template <typename Read, typename Work, typename Consume>
void pipeline(std::size_t count, std::size_t threads, const Read& read, const Work& work, const Consume& consume) {
  using Input = decltype(read(std::size_t{}));
  using Result = decltype(work(std::size_t{}, std::declval<Input>()));
  const auto policy = threads > 1 ? std::launch::async : std::launch::deferred;
  std::deque<std::future<Result>> under_way;
  for (std::size_t next = 0, at = 0; at < count; ++at) {
    for (; next < count && next < at + threads; ++next) {
      under_way.push_back(std::async(policy, [&work, next, input = read(next)]() mutable { return work(next, std::move(input)); }));
    }
    Result result = under_way.front().get();
    under_way.pop_front();
    consume(at, std::move(result));
  }
}

}  // namespace ddbench
