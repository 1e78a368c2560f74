#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ddbench {

/// What stays fixed when the world grows.
enum class ScalingMode : std::uint8_t {
  kWeak,    ///< the batch per GPU (`--batch-per-gpu`)
  kStrong,  ///< the global batch (`--global-batch`)
};
std::string_view to_string(ScalingMode mode) noexcept;  ///< "weak", "strong"

inline constexpr int kMostSteps = 100'000'000;

/// Everything that defines what a run does: two runs of one RunCase on one machine are repetitions.
/// `name` and `tags` label a run and define nothing. What a difference in each field means stands in
/// case_fields.h.
struct RunCase {
  std::string workload = "mlp";
  std::map<std::string, std::string> workload_options;  ///< e.g. {"hidden", "512,512"}
  std::string data = "synthetic";                       ///< or the directory of real data files
  int nodes = 1;
  int gpus_per_node = 1;
  ScalingMode scaling = ScalingMode::kWeak;
  std::int64_t batch_per_gpu =
      64;  ///< samples per rank and step; with strong scaling global batch / world size
  std::string precision = "fp32";
  std::string strategy = "ddp";
  std::string device = "cpu";
  std::string backend = "gloo";
  std::map<std::string, std::string> strategy_options;  ///< e.g. {"cycle_ms", "1"}
  int accumulate =
      1;  ///< micro-batches a step; `batch_per_gpu` is split into so many, gradients are reduced once
  std::string optimizer = "sgd";  ///< "sgd", "adamw", "lars", "lamb"
  double lr = 0.05;
  double momentum = 0.9;
  double weight_decay = 0;
  std::string lr_rule = "none";  ///< lr at another batch than base_batch: "none" as is, "linear", "sqrt"
  std::int64_t base_batch = 0;   ///< global batch that `lr` was found at; above 0 where lr_rule is not "none"
  int lr_warmup = 0;             ///< steps over which the learning rate rises to its value
  double target_loss = 0;  ///< the run ends when the smoothed loss has come down to it; 0: after `steps`
  /// "dynamic", a number or "none"; empty: "dynamic" for fp16, else "none".
  std::string loss_scale;
  std::string cuda_graph = "auto";  ///< on GPUs: forward and backward are captured where they can; or "off"
  int data_workers = 0;             ///< loader threads of a rank; 0: batches are read in the training thread
  int prefetch = 2;                 ///< batches that loader threads are ahead
  std::int64_t data_delay_ns = 0;   ///< injected fault: what the loader sleeps for each batch
  int checkpoint_every = 0;         ///< steps; 0: never
  std::uint64_t seed = 1;
  int steps = 60;  ///< measured steps, warm-up not counted; with a margin kMostSteps: other things end the run
  /// Above 0 (`--steps auto`): the run ends when the half-width of the 95% interval of its step time is at most this
  /// share of it, and that of the probes' cost at most half a percent of a step; 0: after `steps`.
  double margin = 0;
  double max_time_s = 0;  ///< with a margin: measured steps end the run when they have taken so long
  int warmup = 5;  ///< steps before the measured ones; their spans are kept and marked by step < warmup
  /// The window of a program that is measured; all 0: the whole program. Steps that it does first, and steps and
  /// seconds of the window (0: no such limit). What it records outside is not kept.
  int skip = 0;
  int measure = 0;
  double duration_s = 0;
  std::string after;  ///< of the window: "stop" ends the program; empty: it goes on to its own end
  std::int64_t first_bucket_bytes = 1 << 20;
  std::int64_t bucket_bytes = 25 << 20;
  std::string requested_network;  ///< "ib", "ethernet"; empty: what the backend chooses
  std::string link;  ///< rate that each inter-node link is shaped to ("1gbit"); empty: not shaped
  std::string sku;   ///< catalogue name of the machine, when the user says so
  std::string name;
  std::map<std::string, std::string> tags;

  int world_size() const noexcept { return nodes * gpus_per_node; }
  /// GPUs that share one copy of the model, as imported tables say it: the product of the strategy options
  /// tensor_parallel, pipeline_parallel and context_parallel; else 1. batch_per_gpu is then that of a copy.
  int model_parallel() const noexcept;
  std::int64_t global_batch() const noexcept { return batch_per_gpu * (world_size() / model_parallel()); }
  int total_steps() const noexcept { return warmup + steps; }
  bool has_window() const noexcept { return skip > 0 || measure > 0 || duration_s > 0; }
  bool ends_by_margin() const noexcept { return margin > 0; }  ///< how many steps it has is known at its end
  friend bool operator==(const RunCase&, const RunCase&) = default;  ///< labels included; see case_key
};

/// The case on one GPU that this case's efficiency is stated against: the same batch per GPU (weak) or the
/// same global batch (strong), one node, no link, no labels.
RunCase baseline_case(const RunCase& run_case);

/// JSON object with every field, keys in a fixed order.
std::string to_json(const RunCase& run_case);

/// Inverse of to_json. Unknown keys are an Error{kBadInput} that names them; absent keys keep their defaults.
RunCase run_case_from_json(std::string_view json);

/// Equal for two cases exactly when they define the same run: to_json without name and tags.
std::string case_key(const RunCase& run_case);

/// to_json of a case whose case_key is known already: many runs share a key and differ in name and tags.
std::string to_json(std::string_view key, const RunCase& run_case);

/// Whether `json` is to_json of a case with this key. If so, `run_case`, which has the key, takes its name
/// and tags from it. Throws as run_case_from_json.
bool read_labels(std::string_view json, std::string_view key, RunCase& run_case);

/// Throws Error{kBadInput} naming the field, its value and what is allowed.
void validate(const RunCase& run_case);

}  // namespace ddbench
