#include "core/run_case/program_case.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/shell_words.h"

namespace ddbench {
namespace {

// Options of the workload.
constexpr const char* kCommand = "command";  // a JSON list
constexpr const char* kPerNode = "per_node";
constexpr const char* kPythonMarks = "python_marks";  // "off", or absent
constexpr const char* kBatch = "batch";               // "stated", where it is 1

std::string nccl_tests_in_words(const std::map<std::string, std::string>& options) {
  std::string words = kNcclTestsWorkload;
  for (const auto& [name, before] : {std::pair{"function", " "}, {"redop", " "}, {"place", ", "}}) {
    const auto found = options.find(name);
    if (found == options.end() || found->second == "none") continue;
    std::string value = found->second;
    if (std::string_view(name) == "place") std::replace(value.begin(), value.end(), '_', ' ');
    words += before + value;
  }
  return words;
}

}  // namespace

bool is_program(const RunCase& run_case) noexcept {
  return run_case.workload == kProgramWorkload;
}

bool is_training(const RunCase& run_case) noexcept {
  return run_case.workload != kMicroWorkload && run_case.workload != kNcclTestsWorkload;
}

bool is_program_per_node(const RunCase& run_case) {
  return is_program(run_case) && run_case.workload_options.contains(kPerNode);
}

void set_program(RunCase& run_case, const std::vector<std::string>& command, ProgramStart start) {
  if (command.empty() || command.front().empty()) {
    throw Error(ErrorCode::kBadInput, "the program to run is missing after --");
  }
  run_case.workload = kProgramWorkload;
  run_case.batch_per_gpu = 1;
  run_case.device = run_case.backend = run_case.strategy = run_case.precision = run_case.optimizer = "";
  if (start == ProgramStart::kPerNode) start_per_node(run_case);
  try {
    run_case.workload_options[kCommand] = nlohmann::json(command).dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorCode::kBadInput, "an argument of the program is no UTF-8 text, and could not be stored");
  }
}

void start_per_node(RunCase& run_case) {
  run_case.workload_options[kPerNode] = "true";
}

void state_batch(RunCase& run_case, std::int64_t batch_per_gpu) {
  run_case.batch_per_gpu = batch_per_gpu;
  if (is_program(run_case) && batch_per_gpu == 1) run_case.workload_options[kBatch] = "stated";
}

bool has_known_batch(const RunCase& run_case) {
  return !is_program(run_case) || run_case.batch_per_gpu != 1 || run_case.workload_options.contains(kBatch);
}

void leave_out_python_marks(RunCase& run_case) {
  run_case.workload_options[kPythonMarks] = "off";
}

bool wants_python_marks(const RunCase& run_case) {
  return is_program(run_case) && !run_case.workload_options.contains(kPythonMarks);
}

std::vector<std::string> program_command(const RunCase& run_case) {
  const auto found = run_case.workload_options.find(kCommand);
  if (found != run_case.workload_options.end()) {
    const auto json = nlohmann::json::parse(found->second, nullptr, false);
    if (json.is_array() && !json.empty() &&
        std::all_of(json.begin(), json.end(), [](const auto& part) { return part.is_string(); })) {
      return json.get<std::vector<std::string>>();
    }
  }
  throw Error(ErrorCode::kBadInput,
              "a case of the workload \"program\" needs a command: ddbench run ... -- COMMAND");
}

std::string work_in_words(const RunCase& run_case) {
  if (run_case.workload == kNcclTestsWorkload) return nccl_tests_in_words(run_case.workload_options);
  if (!is_program(run_case)) return run_case.workload;
  return shell_words(program_command(run_case));
}

}  // namespace ddbench
