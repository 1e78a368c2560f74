#include "harness/microbench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::micro {
namespace {

using analyzer::MicroOperation;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr std::int64_t kGemmRows[] = {512, kLargestGemmRows};
constexpr std::int64_t kCopyBytes = std::int64_t{64} << 20;  // beyond any cache of a core

[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& allowed) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is \"{}\", but it must be {}", option, value, allowed));
}

double number_between(const std::string& text, const std::string& option, double low, double high) {
  const std::optional<double> value = number_from<double>(text);
  if (!value || *value < low || *value > high)
    refuse(option, text, fmt::format("a number from {} to {}", low, high));
  return *value;
}

std::vector<MicroOperation> operations_from(const std::string& text) {
  std::vector<MicroOperation> operations;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const MicroOperation operation = analyzer::micro_operation_from(text.substr(begin, end - begin));
    if (std::find(operations.begin(), operations.end(), operation) == operations.end())
      operations.push_back(operation);
    begin = end + 1;
  }
  return operations;
}

std::vector<MicroOperation> all_operations() {
  std::vector<MicroOperation> operations;
  for (int i = 0; i < analyzer::kMicroOperationCount; ++i)
    operations.push_back(static_cast<MicroOperation>(i));
  return operations;
}

bool is_whole(MicroOperation operation) {
  return operation == MicroOperation::kAllReduce || operation == MicroOperation::kBroadcast ||
         operation == MicroOperation::kCopy;
}

void add_ceiling(MicroOperation operation, std::vector<Measurement>& plan) {
  if (operation == MicroOperation::kCopy) {
    plan.push_back({operation, kCopyBytes / kElementBytes, false});
  } else {
    for (const std::int64_t rows : kGemmRows) plan.push_back({operation, rows, false});
  }
}

void add_collective(MicroOperation operation, const MicroOptions& options, int ranks,
                    std::vector<Measurement>& plan) {
  const std::int64_t chunks = is_whole(operation) ? 1 : ranks;
  std::int64_t last_count = 0;
  const auto largest = static_cast<double>(options.max_bytes);
  for (auto bytes = static_cast<double>(options.min_bytes); bytes <= largest; bytes *= options.factor) {
    const std::int64_t count = static_cast<std::int64_t>(bytes) / kElementBytes / chunks;
    if (count == last_count) continue;
    last_count = count;
    plan.push_back({operation, count, false});
    if (operation != MicroOperation::kAllToAll) plan.push_back({operation, count, true});
  }
}

}  // namespace

std::int64_t parse_bytes(const std::string& text, const std::string& option) {
  constexpr const char* kAllowed = "a number of bytes such as 8, 64K, 32M or 1G";
  if (text.empty()) refuse(option, text, kAllowed);
  int shift = 0;
  std::string digits = text;
  switch (text.back()) {
    case 'k':
    case 'K': shift = 10; break;
    case 'm':
    case 'M': shift = 20; break;
    case 'g':
    case 'G': shift = 30; break;
    default: break;
  }
  if (shift > 0) digits.pop_back();
  const auto value = number_from<std::int64_t>(digits);
  if (!value || *value < 0 || *value > (std::int64_t{1} << 40)) refuse(option, text, kAllowed);
  return *value << shift;
}

MicroOptions micro_options(const RunCase& run_case) {
  MicroOptions options;
  options.operations = all_operations();
  for (const auto& [name, text] : work_options(run_case.work)) {
    if (name == "operations") {
      options.operations = operations_from(text);
    } else if (name == "min_bytes") {
      options.min_bytes = parse_bytes(text, name);
    } else if (name == "max_bytes") {
      options.max_bytes = parse_bytes(text, name);
    } else if (name == "factor") {
      options.factor = number_between(text, name, 1.01, 1e9);
    } else if (name == "seconds") {
      options.seconds = number_between(text, name, 1e-4, 3600);
    } else {
      refuse("an option of micro", name, "operations, min_bytes, max_bytes, factor or seconds");
    }
  }
  if (options.min_bytes < kElementBytes) refuse("min_bytes", std::to_string(options.min_bytes), "4 or more");
  if (options.max_bytes < options.min_bytes || options.max_bytes > kMostBytes) {
    refuse("max_bytes", std::to_string(options.max_bytes),
           fmt::format("from min_bytes ({}) to {}", options.min_bytes, kMostBytes));
  }
  return options;
}

std::int64_t bytes_of(const Measurement& measurement, int ranks) {
  const std::int64_t bytes = measurement.count * kElementBytes;
  return is_whole(measurement.operation) ? bytes : bytes * ranks;
}

std::int64_t buffer_bytes(const MicroOptions& options) {
  std::int64_t bytes = 0;
  for (const MicroOperation operation : options.operations) {
    const std::int64_t needed = operation == MicroOperation::kGemm
                                    ? kLargestGemmRows * kLargestGemmRows * kElementBytes
                                : operation == MicroOperation::kCopy ? kCopyBytes
                                                                     : options.max_bytes;
    bytes = std::max(bytes, needed);
  }
  return bytes;
}

std::vector<Measurement> plan_measurements(const RunCase& run_case) {
  const MicroOptions options = micro_options(run_case);
  const int ranks = run_case.world_size();
  std::vector<Measurement> plan;
  for (const MicroOperation operation : options.operations) {
    if (!is_collective(operation)) add_ceiling(operation, plan);
  }
  for (const MicroOperation operation : options.operations) {
    if (is_collective(operation) && ranks > 1) add_collective(operation, options, ranks, plan);
  }
  if (!plan.empty()) return plan;
  throw Error(
      ErrorCode::kBadInput,
      ranks == 1
          ? std::string("one rank has no collectives to measure: take 2 or more (--nodes, --gpus)")
          : fmt::format("max_bytes {} is below one element for each of {} ranks: nothing can be measured",
                        options.max_bytes, ranks));
}

}  // namespace ddbench::micro
