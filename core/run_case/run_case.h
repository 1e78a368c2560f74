#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/run_case/work.h"

namespace ddbench {

/// What stays fixed when the world grows.
enum class ScalingMode : std::uint8_t {
  kWeak,    ///< the batch per GPU (`--batch-per-gpu`)
  kStrong,  ///< the global batch (`--global-batch`)
};

/// The learning rate at another global batch than base_batch.
enum class LearningRateRule : std::uint8_t { kNone, kLinear, kSquareRoot };

/// On GPUs forward and backward run as a captured CUDA graph where they can, or never.
enum class CudaGraphs : std::uint8_t { kAuto, kOff };

/// What becomes of a program after its measuring window.
enum class AfterWindow : std::uint8_t { kContinue, kStop };

/// The requested network; kAny: the backend chooses.
enum class NetworkRequest : std::uint8_t { kAny, kInfiniBand, kEthernet };

/// As the options and stored cases have them: "weak", "sqrt", "auto", "stop", "ib"; empty: kContinue, kAny.
std::string_view to_string(ScalingMode mode) noexcept;
std::string_view to_string(LearningRateRule rule) noexcept;
std::string_view to_string(CudaGraphs graph) noexcept;
std::string_view to_string(AfterWindow after) noexcept;
std::string_view to_string(NetworkRequest network) noexcept;

/// Inverse of to_string, for the enumerations above. Throws Error{kBadInput} that names `field`, its value and what is allowed.
template <typename Enum>
Enum choice_from(std::string_view field, std::string_view text);

inline constexpr int kMostSteps = 100'000'000;

/// Where the ranks run.
struct CasePlacement {
  int nodes = 1;
  int gpus_per_node = 1;
  /// An imported source has several ranks and does not state how they sit on nodes: they count as one node.
  bool nodes_not_stated = false;
  std::string device = "cpu";    ///< imported runs may have others than the engine's
  std::string backend = "gloo";  ///< likewise
  std::string sku;               ///< catalogue name of the machine, if the user states it

  int world_size() const noexcept { return nodes * gpus_per_node; }
  bool on_gpus() const noexcept { return device == "cuda"; }
  bool on_cpu() const noexcept { return device == "cpu"; }
  friend bool operator==(const CasePlacement&, const CasePlacement&) = default;
};

/// How the reference engine trains. Texts are those of the engine; imported runs may have others.
struct CaseTraining {
  std::string data = "synthetic";  ///< or the directory of real data files
  ScalingMode scaling = ScalingMode::kWeak;
  std::int64_t batch_per_gpu = 64;  ///< samples per rank and step; with strong scaling global batch / world size
  std::string precision = "fp32";
  std::string strategy = "ddp";
  WorkOptions strategy_options;  ///< e.g. {"cycle_ms", "1"}
  int accumulate = 1;  ///< micro-batches per step, parts of `batch_per_gpu`; gradients are reduced once
  std::string optimizer = "sgd";  ///< "sgd", "adamw", "lars", "lamb"
  double lr = 0.05;
  double momentum = 0.9;
  double weight_decay = 0;
  LearningRateRule lr_rule = LearningRateRule::kNone;
  std::int64_t base_batch = 0;  ///< global batch that `lr` was found at; above 0 where there is an lr_rule
  int lr_warmup = 0;            ///< steps over which the learning rate rises to its value
  double target_loss = 0;  ///< the run ends when the smoothed loss has come down to it; 0: after `steps`
  /// "dynamic", a number or "none"; empty: "dynamic" for fp16, else "none".
  std::string loss_scale;
  CudaGraphs cuda_graph = CudaGraphs::kAuto;
  int data_workers = 0;            ///< loader threads of a rank; 0: batches are read in the training thread
  int prefetch = 2;                ///< batches that loader threads are ahead
  std::int64_t data_delay_ns = 0;  ///< injected fault: what the loader sleeps for each batch
  int checkpoint_every = 0;        ///< steps; 0: never
  std::int64_t first_bucket_bytes = 1 << 20;
  std::int64_t bucket_bytes = 25 << 20;
  friend bool operator==(const CaseTraining&, const CaseTraining&) = default;
};

/// Which steps are measured.
struct CaseSampling {
  std::uint64_t seed = 1;
  int steps = 60;  ///< measured steps, warm-up not counted; with a margin kMostSteps: other things end the run
  /// Above 0 (`--steps auto`): the run ends when the half-width of the 95% interval of its step time is at most this
  /// share of it, and that of the probes' cost at most half a percent of a step; 0: after `steps`.
  double margin = 0;
  double max_time_s = 0;  ///< with a margin: measured steps end the run when they have taken so long
  int warmup = 5;  ///< steps before the measured ones, whose spans are kept too (first_measured_step)
  /// The window of a program that is measured; all 0: the whole program. Steps that it does first, and steps and
  /// seconds of the window (0: no such limit). What it records outside is not kept.
  int skip = 0;
  int measure = 0;
  double duration_s = 0;
  AfterWindow after = AfterWindow::kContinue;

  int total_steps() const noexcept { return warmup + steps; }
  /// `first_step`: the first step that the run does itself. One that continues another begins cold and warms up again.
  std::uint32_t first_measured_step(std::uint32_t first_step) const noexcept {
    return first_step + static_cast<std::uint32_t>(warmup > 0 ? warmup : 0);
  }
  bool has_window() const noexcept { return skip > 0 || measure > 0 || duration_s > 0; }
  bool ends_by_margin() const noexcept { return margin > 0; }  ///< how many steps it has is known at its end
  friend bool operator==(const CaseSampling&, const CaseSampling&) = default;
};

/// The links between nodes.
struct CaseNetwork {
  NetworkRequest requested_network = NetworkRequest::kAny;
  std::string link;  ///< rate that each inter-node link is shaped to ("1gbit"); empty: not shaped
  friend bool operator==(const CaseNetwork&, const CaseNetwork&) = default;
};

/// What names a run and defines nothing.
struct CaseLabels {
  std::string name;
  std::map<std::string, std::string> tags;
  friend bool operator==(const CaseLabels&, const CaseLabels&) = default;
};

/// Everything that defines what a run does: two runs of one RunCase on one machine are repetitions. What a
/// difference in each field means stands in case_fields.h. Its groups are bases, so that a function can take
/// the one that it needs.
struct RunCase : CasePlacement, CaseTraining, CaseSampling, CaseNetwork, CaseLabels {
  Work work;

  /// GPUs that share one copy of the model, as imported tables say it: the product of the strategy options
  /// tensor_parallel, pipeline_parallel and context_parallel; else 1. batch_per_gpu is then that of a copy.
  int model_parallel() const noexcept;
  std::int64_t global_batch() const noexcept { return batch_per_gpu * (world_size() / model_parallel()); }
  friend bool operator==(const RunCase&, const RunCase&) = default;  ///< labels included; see case_key
};

/// The case on one GPU that this case's efficiency is stated against: the same batch per GPU (weak) or the
/// same global batch (strong), one node, no link, no labels.
RunCase baseline_case(const RunCase& run_case);

/// Of a source that states the ranks and not how they sit on nodes.
void set_unplaced(CasePlacement& placement, int ranks) noexcept;

/// JSON object with every field, keys in a fixed order.
std::string to_json(const RunCase& run_case);

/// Inverse of to_json. Unknown keys are an Error{kBadInput} that names them; absent keys keep their defaults. Throws as check_limits().
RunCase run_case_from_json(std::string_view json);

/// Equal for two cases exactly when they define the same run: to_json without name and tags.
std::string case_key(const RunCase& run_case);

/// to_json of a case whose case_key is known already: many runs share a key and differ in name and tags.
std::string to_json(std::string_view key, const RunCase& run_case);

/// Whether `json` is to_json of a case with this key. If so, `run_case`, which has the key, takes its name
/// and tags from it. Throws as run_case_from_json.
bool read_labels(std::string_view json, std::string_view key, RunCase& run_case);

/// Throws Error{kBadInput} naming the first number that no run has. Within these limits, products and sums of a case's numbers (world
/// size, global batch, all steps) do not overflow: cases come out of stores and messages of others, too.
void check_limits(const RunCase& run_case);

/// Throws Error{kBadInput} naming the field, its value and what is allowed: what a run can begin with, and so check_limits(), too.
void validate(const RunCase& run_case);

}  // namespace ddbench
