#include "probes/preload/marks/step_ranges.h"

#include <array>
#include <cstdint>

#include "core/clock.h"
#include "probes/preload/session.h"
#include "probes/preload/session/measuring_window.h"

namespace ddbench::inject {
namespace {

constexpr std::array<std::string_view, 8> kStepNames = {"step",      "train_step", "training_step",   "train_iteration",
                                                        "iteration", "iter",       "training_iteration", "train_iter"};
constexpr std::size_t kLongestName = 48;

/// Ranges of one stack that the thread is in.
struct Stack {
  const void* id = nullptr;
  int depth = 0;
  int step_depth = 0;  ///< of the outermost range of a step; 0: it is in none
  std::int64_t begin_ns = 0;
};

/// Null where the thread uses more domains than any program does.
Stack* stack_of(const void* id) noexcept {
  thread_local std::array<Stack, 16> stacks{};
  Stack* free = nullptr;
  for (Stack& stack : stacks) {
    if (stack.depth > 0 && stack.id == id) return &stack;
    if (stack.depth == 0 && free == nullptr) free = &stack;
  }
  if (free != nullptr) free->id = id;
  return free;
}

char plain(char c) noexcept {
  if (c == ' ' || c == '-') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool is_step_name(std::string_view name) noexcept {
  while (!name.empty() && std::string_view("0123456789 #:_-=").find(name.back()) != std::string_view::npos)
    name.remove_suffix(1);
  if (name.size() < 4 || name.size() > kLongestName) return false;
  std::array<char, kLongestName> text{};
  for (std::size_t i = 0; i < name.size(); ++i) text[i] = plain(name[i]);
  const std::string_view wanted(text.data(), name.size());
  for (const std::string_view step : kStepNames) {
    if (wanted == step) return true;
  }
  return false;
}

void enter_range(const void* id, std::string_view name) noexcept {
  Stack* const stack = stack_of(id);
  if (stack == nullptr) return;
  ++stack->depth;
  if (stack->step_depth > 0 || !is_step_name(name)) return;
  stack->step_depth = stack->depth;
  stack->begin_ns = now_ns();
}

void leave_range(const void* id) noexcept {
  Stack* const stack = stack_of(id);
  if (stack == nullptr || stack->depth == 0) return;
  const bool ends_step = stack->depth == stack->step_depth;
  --stack->depth;
  if (!ends_step) return;
  stack->step_depth = 0;
  if (record_step(stack->begin_ns, now_ns())) note_step_ended(0);
}

}  // namespace ddbench::inject
