#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/error.h"
#include "core/text/quantity.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "harness/experiment/run/gpus.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/footprint.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/tables/data_table.h"

namespace ddbench::cli {
namespace {

using device::MemoryUse;

struct FitOptions {
  RunCase run_case;
  std::string workload = "mlp";
  std::vector<std::string> workload_options;
  std::vector<std::string> strategy_options;
  std::string strategies = "ddp,zero1,zero2,zero3";
  std::string precisions = "fp32,bf16";
  std::string accumulate = "1";
  std::string recompute = "none,blocks";
  double bucket_mb = 25;
  std::uint64_t gpu_memory = 0;
  std::uint64_t reserve = experiment::kCudaReserveBytes;
  std::string sku;
  std::string skus;
  bool json = false;
};

struct FitRow {
  RunCase run_case;
  std::string recompute;
  device::MemoryByUse memory;
  std::int64_t host_bytes = 0;  ///< of an offloaded optimizer
  std::string refused;  ///< why the case cannot be
  std::int64_t largest_batch = 0;
};

std::int64_t gpu_bytes(const FitOptions& options) {
  if (options.gpu_memory > 0) return static_cast<std::int64_t>(options.gpu_memory);
  if (options.sku.empty())
    throw Error(ErrorCode::kBadInput, "fit needs the memory of a GPU: --gpu-memory 16GB, or --sku NAME");
  const analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(options.skus);
  const analyzer::Sku* const sku = catalogue.find_sku(options.sku);
  if (sku == nullptr)
    throw Error(ErrorCode::kBadInput, fmt::format("the catalogue has no SKU \"{}\"; see `ddbench list skus`", options.sku));
  if (!sku->gpu_memory_gb) {
    throw Error(ErrorCode::kBadInput, fmt::format("the memory of a GPU of {} is {}: give --gpu-memory", sku->name,
                                                  sku->gpu_memory_gb.reason()));
  }
  return static_cast<std::int64_t>(*sku->gpu_memory_gb * 1e9);
}

FitRow fit_row(const RunCase& run_case, const std::string& recompute, std::int64_t room) {
  FitRow row{run_case, recompute, {}, 0, {}, 0};
  auto& given_options = std::get<ReferenceWorkload>(row.run_case.work).options;
  if (recompute == "none") given_options.erase("recompute");
  else given_options["recompute"] = recompute;
  try {
    validate(row.run_case);
    row.memory = ddp::largest_footprint(row.run_case);
    row.host_bytes = ddp::offloaded_footprint(row.run_case);
    row.largest_batch = ddp::largest_batch(row.run_case, room);
  } catch (const Error& error) {
    row.refused = error.message();
  }
  return row;
}

/// Every combination; those that the workload or the strategy cannot have say why. Throws what the first one throws where none can.
std::vector<FitRow> rows_of(const FitOptions& options, std::int64_t room) {
  std::vector<FitRow> rows;
  for (const std::string& precision : text_list(options.precisions, "--precision")) {
    for (const std::string& strategy : text_list(options.strategies, "--strategy")) {
      for (const std::int64_t accumulate : integer_list(options.accumulate, "--accumulate")) {
        for (const std::string& recompute : text_list(options.recompute, "--recompute")) {
          RunCase run_case = options.run_case;
          run_case.precision = precision;
          run_case.strategy = strategy;
          run_case.accumulate = static_cast<int>(std::clamp<std::int64_t>(accumulate, -1, 1 << 24));
          rows.push_back(fit_row(run_case, recompute, room));
        }
      }
    }
  }
  const auto is_refused = [](const FitRow& row) { return !row.refused.empty(); };
  if (std::all_of(rows.begin(), rows.end(), is_refused)) throw Error(ErrorCode::kBadInput, rows.empty() ? "nothing to fit" : rows.front().refused);
  return rows;
}

std::vector<FitRow> possible_rows(std::vector<FitRow> rows) {
  std::erase_if(rows, [](const FitRow& row) { return !row.refused.empty(); });
  return rows;
}

std::string settings_of(const FitRow& row) {
  const RunCase& run_case = row.run_case;
  std::string text = fmt::format("{} {}", run_case.strategy, run_case.precision);
  if (row.recompute != "none") text += " recompute=" + row.recompute;
  if (run_case.accumulate != 1) text += fmt::format(" accumulate {}", run_case.accumulate);
  return text;
}

/// "not listed: zero1 fp32, zero2 fp32: the reason", a sentence for each reason.
std::vector<std::string> refusals(const std::vector<FitRow>& rows) {
  std::map<std::string, std::string> by_reason;
  for (const FitRow& row : rows) {
    if (row.refused.empty()) continue;
    std::string& settings = by_reason[row.refused];
    settings += (settings.empty() ? "" : ", ") + settings_of(row);
  }
  std::vector<std::string> notes;
  for (const auto& [reason, settings] : by_reason) notes.push_back(fmt::format("not listed: {}: {}", settings, reason));
  return notes;
}

reports::DataTable table_of(const std::vector<FitRow>& all, const FitOptions& options, std::int64_t gpu, std::int64_t room) {
  using reports::value_cell;
  const auto bytes = [](std::int64_t value) { return value_cell(static_cast<double>(value), quantity(static_cast<double>(value), "B")); };
  const std::vector<FitRow> rows = possible_rows(all);
  reports::TableOf<FitRow> table;
  table.add(true, {"strategy"}, [](const FitRow& row) { return reports::text_cell(row.run_case.strategy); });
  table.add(true, {"precision"}, [](const FitRow& row) { return reports::text_cell(row.run_case.precision); });
  table.add(true, {"recompute"}, [](const FitRow& row) { return reports::text_cell(row.recompute); });
  table.add(options.accumulate != "1", {.title = "accumulate", .numeric = true, .brief = "acc."}, [](const FitRow& row) { return reports::count_cell(row.run_case.accumulate); });
  table.add(true, {"needs", true, "memory of a rank's tensors"}, [=](const FitRow& row) { return bytes(row.memory.total()); });
  table.add(true, {"fits"}, [=](const FitRow& row) {
    const bool fits = row.memory.total() <= room;
    return reports::text_cell(fits ? "yes" : "no", fits ? reports::CellTone::kGood : reports::CellTone::kBad);
  });
  table.add(true, {.title = "largest batch", .numeric = true, .meaning = "per GPU", .brief = "max batch"}, [](const FitRow& row) {
    return row.largest_batch > 0 ? reports::count_cell(row.largest_batch) : reports::missing_cell("not even one sample fits");
  });
  for (const MemoryUse use : {MemoryUse::kParameters, MemoryUse::kGradients, MemoryUse::kOptimizer, MemoryUse::kActivations, MemoryUse::kBuckets, MemoryUse::kBatches}) {
    table.add(reports::any_row(rows, [&](const FitRow& row) { return row.memory[use] > 0; }),
              {std::string(device::kMemoryUseNames[static_cast<std::size_t>(use)]), true},
              [=](const FitRow& row) { return bytes(row.memory[use]); });
  }
  table.add(reports::any_row(rows, [](const FitRow& row) { return row.host_bytes > 0; }), {.title = "on the host", .numeric = true, .meaning = "of an offloaded optimizer, a rank"},
            [=](const FitRow& row) { return bytes(row.host_bytes); });
  reports::DataTable data = std::move(table).of(rows);
  const RunCase& run_case = options.run_case;
  data.caption = fmt::format("{}, batch {} per GPU, {} on {} rank{}", work_name(run_case.work), run_case.batch_per_gpu, run_case.optimizer,
                             run_case.world_size(), run_case.world_size() == 1 ? "" : "s");
  data.detail = fmt::format("room for {} of tensors on a GPU of {}, beside {} for CUDA, cuBLAS, cuDNN and NCCL (--reserve, an assumption)",
                            quantity(static_cast<double>(room), "B"), quantity(static_cast<double>(gpu), "B"), quantity(static_cast<double>(options.reserve), "B"));
  data.notes = {"tensors are counted by their sizes; workspace of operators comes on top. On CPUs tests/bench/engine/memory.py compares with what was allocated"};
  for (std::string& note : refusals(all)) data.notes.push_back(std::move(note));
  return data;
}

nlohmann::ordered_json json_of(const std::vector<FitRow>& rows, std::int64_t gpu, std::int64_t room) {
  nlohmann::ordered_json json = {{"schema_version", 1}, {"gpu_bytes", gpu}, {"room_bytes", room}, {"rows", nlohmann::ordered_json::array()}, {"refused", nlohmann::ordered_json::array()}};
  for (const FitRow& row : rows) {
    if (!row.refused.empty()) {
      json["refused"].push_back({{"strategy", row.run_case.strategy}, {"precision", row.run_case.precision}, {"recompute", row.recompute},
                                 {"accumulate", row.run_case.accumulate}, {"reason", row.refused}});
      continue;
    }
    nlohmann::ordered_json parts;
    for (std::size_t use = 0; use < device::kMemoryUses; ++use) parts[std::string(device::kMemoryUseNames[use])] = row.memory.bytes[use];
    json["rows"].push_back({{"workload", work_name(row.run_case.work)}, {"strategy", row.run_case.strategy}, {"precision", row.run_case.precision},
                            {"recompute", row.recompute}, {"accumulate", row.run_case.accumulate}, {"batch_per_gpu", row.run_case.batch_per_gpu},
                            {"bytes", row.memory.total()}, {"fits", row.memory.total() <= room}, {"largest_batch", row.largest_batch}, {"parts", parts}, {"host_bytes", row.host_bytes}});
  }
  return json;
}

int fit(FitOptions& options) {
  ReferenceWorkload asked{options.workload, {}};
  for (const std::string& text : options.workload_options) asked.options.insert(key_and_value(text, "--workload-option"));
  workload::make_workload(asked.name, asked.options);  // refuses what it does not know before more is asked for
  options.run_case.work = std::move(asked);
  const std::int64_t gpu = gpu_bytes(options);
  const std::int64_t room = gpu - static_cast<std::int64_t>(options.reserve);
  if (room <= 0)
    throw Error(ErrorCode::kBadInput, fmt::format("a GPU of {} bytes has no room beside the {} of --reserve", gpu, options.reserve));
  options.run_case.bucket_bytes = bucket_bytes_of(fmt::format("{}", options.bucket_mb));
  for (const std::string& text : options.strategy_options) options.run_case.strategy_options.insert(key_and_value(text, "--strategy-option"));
  options.run_case.device = "cuda";
  const std::vector<FitRow> rows = rows_of(options, room);
  const auto style = stdout_style();
  print(options.json ? json_of(rows, gpu, room).dump(2) + "\n"
                     : reports::data_table_text(table_of(rows, options, gpu, room), reports::Paint(style.color), reports::line_width(style), 0));
  return 0;
}

}  // namespace

void add_fit_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("fit", "Does it fit? The memory of a rank by strategy, precision and checkpointing, and the largest batch");
  const auto options = std::make_shared<FitOptions>();
  RunCase& run_case = options->run_case;
  command->add_option("workload", options->workload, "See `ddbench list workloads`")->capture_default_str();
  command->add_option("-O,--workload-option", options->workload_options, "Option of the workload as key=value")->take_all()->allow_extra_args(false);
  command->add_option("--gpu-memory", options->gpu_memory, "Memory of a GPU, e.g. 16GB or 80GiB")->transform(CLI::AsSizeValue(true));
  command->add_option("--sku", options->sku, "The GPUs of a SKU of the catalogue, e.g. Standard_NC24rs_v3");
  command->add_option("--reserve", options->reserve, "What CUDA, cuBLAS, cuDNN and NCCL take beside tensors: an assumption")->transform(CLI::AsSizeValue(true))->capture_default_str();
  command->add_option("--nodes", run_case.nodes, "Nodes")->capture_default_str();
  command->add_option("--gpus", run_case.gpus_per_node, "GPUs a node")->capture_default_str();
  command->add_option("--batch-per-gpu", run_case.batch_per_gpu, "Samples per GPU and step")->capture_default_str();
  command->add_option("--strategy", options->strategies, "Strategies, e.g. ddp,zero2")->capture_default_str();
  command->add_option("-S,--strategy-option", options->strategy_options, "Option of the strategies as key=value")->take_all()->allow_extra_args(false);
  command->add_option("--precision", options->precisions, "Number formats, e.g. fp32,bf16")->capture_default_str();
  command->add_option("--accumulate", options->accumulate, "Micro-batches a step, e.g. 1,4")->capture_default_str();
  command->add_option("--recompute", options->recompute, "Activations that are computed again in backward: none,blocks")->capture_default_str();
  command->add_option("--optimizer", run_case.optimizer, "sgd, adamw, lars or lamb")->capture_default_str();
  command->add_option("--bucket-mb", options->bucket_mb, "Gradient bucket size in MiB")->capture_default_str();
  add_skus_option(*command, options->skus);
  add_json_option(*command, options->json, "fit.schema.json");
  add_examples(*command, {{"fit gpt2-355m --gpu-memory 16GB --gpus 4 --batch-per-gpu 8 --optimizer adamw", "what fits, and the largest batch"},
                          {"fit bert-large --sku Standard_NC24rs_v3 --gpus 4 --accumulate 1,4", "on the GPUs of a SKU"}});
  command->callback([&action, options] { action = [options] { return fit(*options); }; });
}

}  // namespace ddbench::cli
