#include <fmt/format.h>

#include <cmath>

#include "analyzer/attribution/communicators.h"
#include "analyzer/diagnose/diagnosis.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

std::string percent(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f}%", 100 * share) : fmt::format("{:.1f}%", 100 * share);
}

/// "rank 5 (node 1, host b)", "ranks 4-7 (node 1)".
std::string who(const Diagnosis& diagnosis) {
  std::string text = diagnosis.ranks.size() == 1 ? "rank " : "ranks ";
  text += ranks_in_words(diagnosis.ranks);
  text += diagnosis.nodes.size() == 1 ? fmt::format(" (node {}", diagnosis.nodes.front())
                                      : fmt::format(" (nodes {}", ranks_in_words(diagnosis.nodes));
  if (!diagnosis.host.empty()) text += ", host " + diagnosis.host;
  return text + ")";
}

bool several(const Diagnosis& diagnosis) {
  return diagnosis.ranks.size() > 1;
}

std::string when(const Diagnosis& diagnosis) {
  if (diagnosis.from_begin && diagnosis.to_end) return "";
  if (diagnosis.to_end) return fmt::format(" since step {}", number(diagnosis.first_step, 1));
  if (diagnosis.from_begin) return fmt::format(" until step {}", number(diagnosis.last_step, 1));
  return fmt::format(" from step {} to {}", number(diagnosis.first_step, 1), number(diagnosis.last_step, 1));
}

std::string cost(const Diagnosis& diagnosis) {
  return fmt::format(" and cost{} {} of the step", several(diagnosis) ? "" : "s", percent(diagnosis.cost_share));
}

std::string slower(const Diagnosis& diagnosis, const char* one, const char* many) {
  const std::string verb = several(diagnosis) ? many : one;
  return diagnosis.slower > 0 ? fmt::format(" {} {} slower", verb, percent(diagnosis.slower)) : fmt::format(" {} longer", verb);
}

std::string operator_of(const Diagnosis& diagnosis) {
  if (diagnosis.operator_name.empty()) return "";
  return fmt::format(" in {} ({} of the excess)", diagnosis.operator_name, percent(diagnosis.operator_share));
}

std::string link_in_words(const SlowLink& link) {
  switch (link.kind) {
    case SlowLink::Kind::kPair: return fmt::format("the link between nodes {} and {}", link.node, link.to_node);
    case SlowLink::Kind::kDirection: return fmt::format("the link from node {} to node {}", link.node, link.to_node);
    case SlowLink::Kind::kNode: break;
  }
  return fmt::format("node {}'s link", link.node);
}

std::string pauses(const Diagnosis& diagnosis) {
  const std::string verb = several(diagnosis) ? " pause together" : " pauses";
  const std::string every = diagnosis.period_steps > 0
                                ? fmt::format(" every {} steps", number(std::round(diagnosis.period_steps), 1))
                                : std::string(" now and then");
  return who(diagnosis) + verb + fmt::format(" for {}", quantity(diagnosis.pause_ns, "ns")) + every + when(diagnosis) +
         cost(diagnosis);
}

}  // namespace

std::string verdict_in_words(const Diagnosis& diagnosis) {
  switch (diagnosis.cause) {
    case Cause::kHealthy:
      return fmt::format("healthy: ranks lose {} of the step to waiting for the slowest one", percent(diagnosis.lost_share));
    case Cause::kSlowCompute:
      return who(diagnosis) + slower(diagnosis, "computes", "compute") + operator_of(diagnosis) + when(diagnosis) + cost(diagnosis);
    case Cause::kContention:
      return who(diagnosis) + (several(diagnosis) ? " wait" : " waits") + " for a core" + when(diagnosis) + cost(diagnosis);
    case Cause::kDataLoading:
      return who(diagnosis) + (several(diagnosis) ? " wait for their data loaders" : " waits for its data loader") + when(diagnosis) +
             cost(diagnosis);
    case Cause::kHostGaps:
      return who(diagnosis) + (several(diagnosis) ? " spend" : " spends") +
             fmt::format(" {} more a step between operators", quantity(diagnosis.excess_ns, "ns")) + when(diagnosis) + cost(diagnosis);
    case Cause::kPauses: return pauses(diagnosis);
    case Cause::kLateStart:
      return fmt::format("{} began {} later than the others", who(diagnosis), quantity(diagnosis.excess_ns, "ns"));
    case Cause::kMovingImbalance:
      return fmt::format("{} is unevenly shared out: another rank is the slowest in each step, which costs {} of the step",
                         diagnosis.operator_name, percent(diagnosis.cost_share));
    case Cause::kSlowLink:
      return fmt::format("{} runs at {:.2g} of the others", link_in_words(*diagnosis.link), diagnosis.link->ratio) + when(diagnosis) +
             fmt::format(" and costs {} of the step", percent(diagnosis.cost_share));
    case Cause::kSlowOperator:
      return fmt::format("{} takes {} on all ranks", diagnosis.operator_name,
                         diagnosis.slower > 0 ? percent(diagnosis.slower) + " longer" : std::string("longer")) +
             (diagnosis.reference.empty() ? when(diagnosis) : fmt::format(" than in run {}", diagnosis.reference)) +
             fmt::format(" and costs {} of the step", percent(diagnosis.cost_share));
    case Cause::kJitter:
      if (diagnosis.lost_share < 0.10)
        return fmt::format("jitter without a culprit: some steps are held up for {}, and no rank was seen to do it often enough",
                           quantity(diagnosis.pause_ns, "ns"));
      return fmt::format("jitter without a culprit: ranks lose {} of the step to waiting for the slowest one, and no single cause "
                         "explains 80% of it",
                         percent(diagnosis.lost_share));
  }
  return "";
}

}  // namespace ddbench::analyzer
