#include "harness/experiment/ingest/rank_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "analyzer/attribution/communicators.h"
#include "analyzer/program/rank_inputs.h"
#include "core/facts/facts.h"

namespace ddbench::experiment {
namespace {

std::string name_ranks(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + analyzer::ranks_in_words(ranks);
}

void describe_data(const std::vector<analyzer::RankInputs>& ranks, ProgramRecording& recording) {
  const auto same = analyzer::ranks_with_same_data(ranks);
  if (!same) {
    set_fact(recording.facts, fact_key<"program.data_of_ranks">, "not known: " + same.reason());
    return;
  }
  std::vector<std::string> groups;
  for (const std::vector<int>& group : *same) groups.push_back(name_ranks(group));
  const std::string words = fmt::format("{}", fmt::join(groups, " and "));
  set_fact(recording.facts, fact_key<"program.data_of_ranks">, groups.empty() ? "different" : "the same on " + words);
  if (groups.empty()) return;
  recording.notes.push_back(fmt::format(
      "{} load the same samples in the same order: with data parallelism they train on copies, and the throughput counts each sample "
      "more than once. Give the DataLoader a sampler: torch.utils.data.distributed.DistributedSampler (Lightning and Accelerate add it). "
      "Ranks of one tensor- or pipeline-parallel group share their data by design",
      words));
}

void describe_order(const std::vector<analyzer::RankInputs>& ranks, ProgramRecording& recording) {
  const analyzer::RepeatedOrder repeated = analyzer::ranks_with_repeated_order(ranks);
  std::vector<int> all = repeated.distributed;
  all.insert(all.end(), repeated.shuffled.begin(), repeated.shuffled.end());
  if (all.empty()) return;
  std::sort(all.begin(), all.end());
  set_fact(recording.facts, fact_key<"program.order_repeats">, name_ranks(all));
  if (!repeated.distributed.empty()) {
    recording.notes.push_back(
        fmt::format("the DistributedSampler of {} gives the same order in each epoch: call sampler.set_epoch(epoch) before each one",
                    name_ranks(repeated.distributed)));
  }
  if (!repeated.shuffled.empty()) {
    recording.notes.push_back(fmt::format(
        "the RandomSampler of {} gives the same order in each epoch: the program seeds its generator alike before each one",
        name_ranks(repeated.shuffled)));
  }
}

void describe_gpus(const std::vector<analyzer::RankInputs>& ranks, ProgramRecording& recording) {
  std::vector<std::string> shared;
  for (const auto& [bus_id, users] : analyzer::ranks_that_share_gpus(ranks))
    shared.push_back(fmt::format("{} the GPU {}", name_ranks(users), bus_id.empty() ? "of one UUID" : bus_id));
  if (shared.empty()) return;
  const std::string words = fmt::format("{}", fmt::join(shared, ", "));
  set_fact(recording.facts, fact_key<"program.shared_gpus">, words);
  recording.notes.push_back(fmt::format(
      "ranks seem to share a GPU: {} (current on their threads when training began). If so, each gets a part of its time and memory: choose "
      "the device of the local rank, "
      "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])), and start no more ranks than GPUs",
      words));
}

}  // namespace

void describe_rank_inputs(const std::vector<analyzer::ProgramRank>& ranks, ProgramRecording& recording) {
  if (ranks.size() < 2) return;
  std::vector<analyzer::RankInputs> inputs;
  bool reported = false;
  for (const analyzer::ProgramRank& rank : ranks) {
    inputs.push_back(analyzer::rank_inputs(rank.names));
    reported |= !inputs.back().epochs.empty();
  }
  if (reported) describe_data(inputs, recording);
  describe_order(inputs, recording);
  describe_gpus(inputs, recording);
}

}  // namespace ddbench::experiment
