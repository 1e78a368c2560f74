#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// The time of something in a replay, its time on the critical path, and by how much it alone could have
/// taken longer without lengthening the block. Infinite if nothing waits for it.
struct Slack {
  double ns = 0;
  double path_ns = 0;
  double slack_ns = 0;
};

/// For one step of a block.
struct StepSlack {
  std::vector<std::vector<Slack>> work;    ///< [rank][event]; issues and waits have no length and no path
  std::vector<std::vector<Slack>> delays;  ///< [rank][collective]: RankStep::start_delay_ns
  std::vector<Slack> transfers;            ///< [collective]
};

struct BlockSlack {
  double elapsed_ns = 0;
  std::vector<StepSlack> steps;  ///< as recorded, from the first of the block on
};

/// The critical path through recorded steps [first, last) that follow each other, on the recorded ranks and with the
/// recorded transfers, by the rules of replay().
///
/// The path is one chain from the begin of the block to its end without a gap: path_ns of everything sums to
/// elapsed_ns. At a wait it continues in the transfer, then on the rank that arrived last, in its start
/// delay, then in the preceding transfer or in the rank's own work, whichever was later. Slack is the total
/// float of the critical path method (Kelley and Walker 1959): latest end without a longer block, minus end.
/// Compute keeps its length in the replay: a changed overlap with another collective does not count. Work of
/// one rank in a step may be lengthened together by as much as the smallest slack in it. Needs
/// RecordedStep::transfer_ns of each step.
BlockSlack block_slack(const StepRecording& recording, std::size_t first, std::size_t last);

}  // namespace ddbench::analyzer
