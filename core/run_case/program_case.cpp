#include "core/run_case/program_case.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/error.h"
#include "core/text/shell_words.h"

namespace ddbench {
namespace {

std::string in_words(const NcclTests& tests) {
  std::string words = work_name(tests);
  if (!tests.function.empty()) words += " " + tests.function;
  if (!tests.redop.empty() && tests.redop != "none") words += " " + tests.redop;
  std::string place = tests.place;
  std::ranges::replace(place, '_', ' ');
  return place.empty() ? words : words + ", " + place;
}

}  // namespace

bool is_program(const RunCase& run_case) noexcept { return std::holds_alternative<UserProgram>(run_case.work); }
bool is_micro(const RunCase& run_case) noexcept { return std::holds_alternative<Microbenchmark>(run_case.work); }
bool is_reference(const RunCase& run_case) noexcept {
  return std::holds_alternative<ReferenceWorkload>(run_case.work);
}
bool is_training(const RunCase& run_case) noexcept { return is_reference(run_case) || is_program(run_case); }

bool is_program_per_node(const RunCase& run_case) noexcept {
  const auto* const program = std::get_if<UserProgram>(&run_case.work);
  return program != nullptr && program->start == ProgramStart::kPerNode;
}

UserProgram& set_program(RunCase& run_case, const std::vector<std::string>& command, ProgramStart start) {
  if (command.empty() || command.front().empty()) {
    throw Error(ErrorCode::kBadInput, "the program to run is missing after --");
  }
  try {
    [[maybe_unused]] const std::string as_stored = nlohmann::json(command).dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorCode::kBadInput, "an argument of the program is no UTF-8 text, and could not be stored");
  }
  run_case.batch_per_gpu = 1;
  run_case.device = run_case.backend = run_case.strategy = run_case.precision = run_case.optimizer = "";
  return run_case.work.emplace<UserProgram>(UserProgram{.command = command, .start = start});
}

void state_batch(RunCase& run_case, std::int64_t batch_per_gpu) {
  run_case.batch_per_gpu = batch_per_gpu;
  if (auto* const program = std::get_if<UserProgram>(&run_case.work)) program->one_is_stated = batch_per_gpu == 1;
}

bool has_known_batch(const RunCase& run_case) {
  if (const auto* const program = std::get_if<UserProgram>(&run_case.work))
    return run_case.batch_per_gpu != 1 || program->one_is_stated;
  const auto* const workload = std::get_if<ReferenceWorkload>(&run_case.work);
  return workload != nullptr && workload->batch_is_known;
}

const std::vector<std::string>& program_command(const RunCase& run_case) {
  const auto* const program = std::get_if<UserProgram>(&run_case.work);
  if (program != nullptr && !program->command.empty()) return program->command;
  throw Error(ErrorCode::kBadInput,
              "a case of the workload \"program\" needs a command: ddbench run ... -- COMMAND");
}

std::string work_in_words(const RunCase& run_case) {
  if (const auto* const tests = std::get_if<NcclTests>(&run_case.work)) return in_words(*tests);
  const auto* const program = std::get_if<UserProgram>(&run_case.work);
  // Another tool may have stored a program without its command.
  return program != nullptr && !program->command.empty() ? shell_words(program->command) : work_name(run_case.work);
}

}  // namespace ddbench
