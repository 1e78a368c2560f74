#include "harness/cli/options/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/error.h"
#include "core/run_case/injected.h"
#include "core/run_case/program_case.h"
#include "core/text/number.h"
#include "harness/cli/options/shared_options.h"
#include "harness/device/device.h"
#include "harness/training/injected_faults.h"

namespace ddbench::cli {
namespace {

constexpr double kBytesPerMebibyte = 1024 * 1024;

void add_optimizer_options(CLI::App& app, RunCase& run_case) {
  const auto add = [&](const char* name, auto& value, const char* meaning) {
    app.add_option(name, value, meaning)->group("Optimizer")->capture_default_str();
  };
  add("--optimizer", run_case.optimizer, "sgd, adamw, lars or lamb");
  add("--lr", run_case.lr, "Learning rate");
  add("--momentum", run_case.momentum, "Momentum of sgd and lars");
  add("--weight-decay", run_case.weight_decay, "Weight decay");
  add_choice(app, "--lr-rule", run_case.lr_rule,
             "How the learning rate follows the global batch: none, linear or sqrt of global batch / base batch")
      ->group("Optimizer");
  add("--base-batch", run_case.base_batch, "Global batch that --lr was found at, for --lr-rule");
  add("--lr-warmup", run_case.lr_warmup, "Steps over which the learning rate rises to its value");
  add("--loss-scale", run_case.loss_scale,
      "What the loss is multiplied by before backward: dynamic, a number or none; without it dynamic for "
      "fp16");
  add("--accumulate", run_case.accumulate,
      "Micro-batches a step: the batch per GPU is split, gradients are reduced once");
  add("--checkpoint-every", run_case.checkpoint_every,
      "Steps from one checkpoint (safetensors) to the next, for `ddbench run --resume`; 0: none");
  add("--target-loss", run_case.target_loss,
      "End when the training loss, mean over ranks and the last 2048 samples, has come down to this; 0: "
      "never");
}

void add_strategy_options(CLI::App& app, RunOptions& options) {
  constexpr const char* kStrategy = "Strategy";
  app.add_option("--strategy", options.run_case.strategy,
                 "How ranks average gradients; see `ddbench list strategies`")
      ->group(kStrategy)
      ->capture_default_str();
  app.add_option("-S,--strategy-option", options.strategy_options,
                 "Option of the strategy as key=value, e.g. -S hook=fp16")
      ->group(kStrategy)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--bucket-mb", options.bucket_mb, "Gradient bucket size in MiB (the first one holds 1 MiB)")
      ->group(kStrategy)
      ->capture_default_str();
}

}  // namespace

std::chrono::milliseconds RunOptions::watchdog(const RunCase& of) const {
  constexpr double kOfWorkloads_s = 60;
  constexpr double kOfMicro_s = 600;
  constexpr std::chrono::hours kNever{24 * 365};
  if (!timeout_s && is_program(of)) return kNever;  // its ranks may wait for long, e.g. for an evaluation on one of them
  return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s.value_or(is_micro(of) ? kOfMicro_s : kOfWorkloads_s) * 1000));
}

std::chrono::milliseconds RunOptions::grace() const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(grace_s * 1000));
}

void add_sku_options(CLI::App& app, RunOptions& options, const char* group) {
  app.add_option("--sku", options.run_case.sku,
                 "What each node is, as in `ddbench list skus`; kept with the run. Without it a machine of Azure, AWS or Google is asked")
      ->group(group);
  app.add_flag("--no-metadata", options.no_metadata, "Do not ask the cloud's metadata service (1 s at most) what this machine is")
      ->group(group);
}

void add_run_options(CLI::App& app, RunOptions& options) {
  RunCase& run_case = options.run_case;
  const auto group = [](CLI::Option* option, const char* name) { return option->group(name); };
  constexpr const char* kTraining = "Training";
  group(app.add_option("--workload", options.workload, "What is trained; see `ddbench list workloads`"),
        kTraining)
      ->capture_default_str();
  group(app.add_option("-O,--workload-option", options.workload_options,
                       "Option of the workload as key=value, e.g. -O hidden=1024,1024"),
        kTraining)
      ->take_all()
      ->allow_extra_args(false);
  group(app.add_option("--data", run_case.data, "'synthetic', or the directory of the workload's data files"),
        kTraining)
      ->capture_default_str();
  group(
      app.add_option(
          "--precision", run_case.precision,
          "fp32; tf32 (GPUs); bf16 or fp16 (GPUs): activations and weights in 16 bits, master weights in 32"),
      kTraining)
      ->capture_default_str();
  group(app.add_option("--data-workers", run_case.data_workers,
                       "Loader threads of a rank; 0 reads batches in the training thread"),
        kTraining)
      ->capture_default_str();
  group(app.add_option("--prefetch", run_case.prefetch, "Batches that loader threads are ahead"), kTraining)
      ->capture_default_str();
  group(app.add_option("--data-delay", run_case.data_delay_ns,
                       "Injected fault: reading each batch takes this much longer, e.g. 5ms"),
        kTraining)
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, std::int64_t>{
              {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}},
          CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME"));
  add_step_options(app, options.steps, kTraining);
  group(app.add_option("--warmup", run_case.warmup, "Steps before the measured ones"), kTraining)
      ->capture_default_str();
  group(app.add_option("--seed", run_case.seed, "Random seed for weights, data and shuffling"), kTraining)
      ->capture_default_str();

  add_optimizer_options(app, options.run_case);
  add_strategy_options(app, options);

  constexpr const char* kMachine = "Machine";
  group(app.add_option("--device", options.device,
                       "auto, cpu or cuda; auto is cuda where this machine has a GPU"),
        kMachine)
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  group(app.add_option(
            "--backend", options.backend,
            "Collectives: auto, gloo, mpi (with --launcher mpirun) or nccl (GPUs); auto fits the device"),
        kMachine)
      ->check(CLI::IsMember({"auto", "gloo", "nccl", "mpi"}))
      ->capture_default_str();
  group(add_choice(app, "--cuda-graph", run_case.cuda_graph,
                   "auto: on GPUs forward and backward run as a captured CUDA graph where they can; or off"),
        kMachine)
      ->check(CLI::IsMember({"auto", "off"}));
  add_sku_options(app, options, kMachine);
  group(app.add_option("--timeout", options.timeout_s,
                       "Seconds without progress after which the run is stopped and the missing rank named (default: 60; with "
                       "--workload micro 600). Of a program of yours: seconds in which ranks stay in a collective and none enters or "
                       "leaves one (default: the missing rank is named, the program goes on). SIGUSR1 to ddbench asks where the ranks "
                       "are"),
        kMachine);

  group(app.add_option(
            "--grace", options.grace_s,
            "Seconds from SIGTERM to the end of all ranks: for a last checkpoint, or for a program to end"),
        kMachine)
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();

  constexpr const char* kResult = "Result";
  group(app.add_option("--name", run_case.name, "A name to find the run by"), kResult);
  group(app.add_option("--tag", options.tags, "A label key=value"), kResult)
      ->take_all()
      ->allow_extra_args(false);
  group(add_db_option(app, options.db), kResult);
  group(add_json_option(app, options.json, "run.schema.json, scaling.schema.json"), kResult);
  group(app.add_flag("--no-mlflow", options.no_mlflow, "Do not log the run to the server that MLFLOW_TRACKING_URI names"), kResult);
  group(add_quiet_option(app, options.quiet), kResult);
  add_launcher_options(app, options.launcher);
  add_program_options(app, options.program);
}

std::pair<std::string, std::string> key_and_value(const std::string& text, const std::string& option) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is \"{}\", but it must be key=value", option, text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> text_list(const std::string& text, const std::string& option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} is \"{}\", but it must be values with commas between", option, text));
    }
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::int64_t> integer_list(const std::string& text, const std::string& option) {
  std::vector<std::int64_t> values;
  for (const std::string& part : text_list(text, option)) {
    const auto value = number_from<std::int64_t>(part);
    if (!value) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} holds \"{}\", which is no whole number", option, part));
    }
    values.push_back(*value);
  }
  return values;
}

void check_injected(const RunCase& run_case) {
  const char* const text = std::getenv(kInjectVariable);
  if (text == nullptr || !is_reference(run_case)) return;
  const int rank = ddp::fault_plan(text).rank;
  if (rank < run_case.world_size()) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{} is \"{}\", but there is no rank {}: the last one is rank {}", kInjectVariable, text,
                                                rank, run_case.world_size() - 1));
}

std::int64_t bucket_bytes_of(const std::string& mebibytes) {
  const auto value = number_from<double>(mebibytes);
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > 1e6) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--bucket-mb is {}, but it must be above 0 and at most 1000000", mebibytes));
  }
  return static_cast<std::int64_t>(*value * kBytesPerMebibyte);
}

namespace {

std::map<std::string, std::string> key_values(const std::vector<std::string>& texts, const std::string& option) {
  std::map<std::string, std::string> values;
  for (const std::string& text : texts) {
    auto [key, value] = key_and_value(text, option);
    values.insert_or_assign(std::move(key), std::move(value));
  }
  return values;
}

}  // namespace

void resolve(RunOptions& options) {
  RunCase& run_case = options.run_case;
  run_case.device = options.device == "auto" ? device::best_device() : options.device;
  run_case.backend = options.backend != "auto"   ? options.backend
                     : run_case.on_gpus() ? "nccl"
                                                 : "gloo";
  run_case.work = make_work(options.workload, key_values(options.workload_options, "--workload-option"));
  run_case.strategy_options = key_values(options.strategy_options, "--strategy-option");
  run_case.tags = key_values(options.tags, "--tag");
  if (const char* const injected = std::getenv(kInjectVariable); injected != nullptr && *injected != '\0')
    run_case.tags.insert_or_assign("injected", injected);
  run_case.bucket_bytes = bucket_bytes_of(fmt::format("{}", options.bucket_mb));
  if (const double timeout_s = options.timeout_s.value_or(1); !std::isfinite(timeout_s) || timeout_s < 1 || timeout_s > 1e6) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--timeout is {}, but it must be from 1 to 1000000 seconds", timeout_s));
  }
  resolve(options.launcher, run_case);
  apply(options.program, run_case);
  apply_steps(options.steps, run_case);
  options.repeats = repeats_of(options.steps);
}

}  // namespace ddbench::cli
