#include "block.h"

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace ddbench::cuda_on_host {
namespace {

namespace context = boost::context;

constexpr unsigned kWarp = 32;
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr uint4 kNaNs{~0U, ~0U, ~0U, ~0U};

enum class State : std::uint8_t { kNew, kWaitsForWarp, kWaitsForBlock, kEnded };

struct Thread {
  context::fiber fiber;  // where it goes on, while it waits
  State state = State::kNew;
  std::array<unsigned, 2> waits{};  // for warp and block
};

class Block {
 public:
  Block(const std::function<void()>& body, std::size_t shared_bytes)
      : body_(body),
        memory_((shared_bytes + sizeof(uint4) - 1) / sizeof(uint4), kNaNs),
        threads_(std::size_t{blockDim.x} * blockDim.y * blockDim.z) {
    for (auto& of_kind : given_) {
      for (auto& given : of_kind) given.resize(threads_.size());
    }
  }

  void run() {
    next_ = threads_.size();
    while (next_ > 0)
      proceed(context::fiber(std::allocator_arg, stacks(),
                             [this](context::fiber&& caller) { return start_threads(std::move(caller)); }));
    while (release()) {
    }
  }

  /// The running thread gives its bits and goes on when its warp or its block has done so.
  const std::uint32_t* wait(State state, std::uint32_t bits) {
    const std::size_t self = current_;
    Thread& thread = threads_[self];
    const std::size_t kind = state == State::kWaitsForWarp ? 0 : 1;
    std::vector<std::uint32_t>& given = given_[kind][thread.waits[kind]++ % 2];  // the other is still read
    given[self] = bits;
    thread.state = state;
    caller_ = std::move(caller_).resume();
    become(self);
    return given.data() + (state == State::kWaitsForWarp ? self / kWarp * kWarp : 0);
  }

  std::size_t threads() const noexcept { return threads_.size(); }
  void* memory() noexcept { return memory_.data(); }

 private:
  void become(std::size_t thread) noexcept {
    current_ = thread;
    const auto number = static_cast<unsigned>(thread);
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y, number / (blockDim.x * blockDim.y)};
  }

  static context::pooled_fixedsize_stack& stacks() {
    static context::pooled_fixedsize_stack kept(kStackBytes);
    return kept;
  }

  /// One fiber runs threads one after another, until one of them waits and so keeps the fiber.
  context::fiber start_threads(context::fiber&& caller) {
    caller_ = std::move(caller);
    while (next_ > 0) {
      const std::size_t self = --next_;
      become(self);
      body_();
      threads_[self].state = State::kEnded;
    }
    return std::move(caller_);
  }

  void proceed(context::fiber&& fiber) {
    context::fiber waiting = std::move(fiber).resume();
    if (waiting) threads_[current_].fiber = std::move(waiting);
  }

  /// Lets those go on for whom all others are there. False at the end of the block.
  bool release() {
    if (all(0, threads_.size(), State::kEnded)) return false;
    if (all(0, threads_.size(), State::kWaitsForBlock)) {
      go_on(0, threads_.size());
      return true;
    }
    bool released = false;
    for (std::size_t first = 0; first < threads_.size(); first += kWarp) {
      if (first + kWarp > threads_.size() || !all(first, first + kWarp, State::kWaitsForWarp)) continue;
      go_on(first, first + kWarp);
      released = true;
    }
    if (released) return true;
    std::fprintf(stderr, "CUDA on the host: a barrier that not all threads of a block or warp come to\n");
    std::abort();
  }
  bool all(std::size_t first, std::size_t end, State state) const {
    for (std::size_t i = first; i < end; ++i) {
      if (threads_[i].state != state) return false;
    }
    return true;
  }
  void go_on(std::size_t first, std::size_t end) {
    for (std::size_t i = end; i-- > first;) {
      current_ = i;
      proceed(std::move(threads_[i].fiber));
    }
  }

  const std::function<void()>& body_;
  std::vector<uint4> memory_;
  std::vector<Thread> threads_;
  std::array<std::array<std::vector<std::uint32_t>, 2>, 2> given_;  // of the last two waits of each kind
  context::fiber caller_;
  std::size_t next_ = 0;
  std::size_t current_ = 0;
};

Block* running = nullptr;

}  // namespace

void run_block(dim3 block, dim3 grid, uint3 index, std::size_t shared_bytes, const std::function<void()>& body) {
  blockIdx = index;
  blockDim = block;
  gridDim = grid;
  Block made(body, shared_bytes);
  running = &made;
  made.run();
  running = nullptr;
}

void* block_memory() {
  return running->memory();
}

bool any_of_block(bool bit) {
  const std::uint32_t* const given = running->wait(State::kWaitsForBlock, bit ? 1 : 0);
  for (std::size_t i = 0; i < running->threads(); ++i) {
    if (given[i] != 0) return true;
  }
  return false;
}

const std::uint32_t* all_of_warp(std::uint32_t bits) {
  return running->wait(State::kWaitsForWarp, bits);
}

}  // namespace ddbench::cuda_on_host
