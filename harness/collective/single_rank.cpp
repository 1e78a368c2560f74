#include "harness/collective/single_rank.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"

namespace ddbench::collective {
namespace {

void check_root(const char* function, int root) {
  if (root == 0) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: root {} is not a rank of a world of 1", function, root));
}

}  // namespace

void SingleRank::throw_if_aborted(const char* function) const {
  if (aborted_)
    throw Error(ErrorCode::kRunFailed, fmt::format("{} failed on rank 0: aborted", function), 0, function);
}

void SingleRank::copy(const char* function, const Elements& input, const Elements& output) const {
  throw_if_aborted(function);
  if (input.count != output.count || input.type != output.type) {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {} elements in, but {} out in a world of 1", function,
                                                  input.count, output.count));
  }
  if (input.data != output.data)
    std::memcpy(output.data, input.data, static_cast<std::size_t>(input.bytes()));
}

void SingleRank::all_reduce_sum(Elements) {
  throw_if_aborted("all_reduce");
}

void SingleRank::broadcast(Elements, int root) {
  throw_if_aborted("broadcast");
  check_root("broadcast", root);
}

void SingleRank::reduce_sum(Elements, int root) {
  throw_if_aborted("reduce");
  check_root("reduce", root);
}

void SingleRank::reduce_scatter_sum(Elements input, Elements output) {
  copy("reduce_scatter", input, output);
}

void SingleRank::all_gather(Elements input, Elements output) {
  copy("all_gather", input, output);
}

void SingleRank::all_to_all(Elements input, Elements output) {
  copy("all_to_all", input, output);
}

void SingleRank::send(Elements, int) {
  throw Error(ErrorCode::kBadInput, "send: a world of 1 has no other rank");
}

void SingleRank::receive(Elements, int) {
  throw Error(ErrorCode::kBadInput, "receive: a world of 1 has no other rank");
}

void SingleRank::barrier() {
  throw_if_aborted("barrier");
}

}  // namespace ddbench::collective
