#include "core/run_case/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace ddbench {
namespace {



constexpr const char* kProgram = "program";
constexpr const char* kMicro = "micro";
constexpr const char* kNcclTests = "nccl-tests";

// WorkOptions of a program in stored cases.
constexpr const char* kCommand = "command";  // a JSON list
constexpr const char* kPerNode = "per_node";
constexpr const char* kPythonMarks = "python_marks";  // "off", or absent
constexpr const char* kBatch = "batch";               // "stated", where it is 1
// Of an imported run, among the options of its workload.
constexpr const char* kNotStated = "not stated";

std::vector<std::string> command_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const bool is_command = json.is_array() && !json.empty() &&
                          std::ranges::all_of(json, [](const auto& part) { return part.is_string(); });
  if (!is_command)
    throw Error(ErrorCode::kBadInput, "the command of a program is no list of texts: it cannot be run or shown");
  return json.get<std::vector<std::string>>();
}

[[noreturn]] void refuse_option(const char* work, const std::string& name) {
  throw Error(ErrorCode::kBadInput, fmt::format("a case of the workload \"{}\" has no option \"{}\"", work, name));
}

UserProgram program_from(const WorkOptions& options) {
  UserProgram program;
  for (const auto& [name, value] : options) {
    if (name == kCommand) {
      program.command = command_from(value);
    } else if (name == kPerNode) {
      program.start = ProgramStart::kPerNode;
    } else if (name == kPythonMarks) {
      program.python_marks = false;
    } else if (name == kBatch) {
      program.one_is_stated = true;
    } else {
      refuse_option(kProgram, name);
    }
  }
  return program;
}

/// Calls `visit(name, value)` for each option.
template <typename Tests, typename Visit>
void visit_options(Tests& tests, Visit&& visit) {
  visit("function", tests.function);
  visit("place", tests.place);
  visit("redop", tests.redop);
  visit("type", tests.type);
}

NcclTests nccl_tests_from(WorkOptions options) {
  NcclTests tests;
  visit_options(tests, [&](const char* name, std::string& value) {
    if (auto option = options.extract(name)) value = std::move(option.mapped());
  });
  if (!options.empty()) refuse_option(kNcclTests, options.begin()->first);
  return tests;
}

WorkOptions options_of(const UserProgram& program) {
  WorkOptions options;
  // Replaced is what is no UTF-8, as in every stored text; set_program refuses it.
  if (!program.command.empty())
    options[kCommand] = nlohmann::json(program.command).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (program.start == ProgramStart::kPerNode) options[kPerNode] = "true";
  if (!program.python_marks) options[kPythonMarks] = "off";
  if (program.one_is_stated) options[kBatch] = "stated";
  return options;
}

WorkOptions options_of(const ReferenceWorkload& workload) {
  WorkOptions options = workload.options;
  if (!workload.batch_is_known) options[kBatch] = kNotStated;
  return options;
}

WorkOptions options_of(const NcclTests& tests) {
  WorkOptions options;
  visit_options(tests, [&](const char* name, const std::string& value) {
    if (!value.empty()) options[name] = value;
  });
  return options;
}

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang does not deduce it for aggregates

}  // namespace

std::string work_name(const Work& work) {
  return std::visit(Overloaded{[](const ReferenceWorkload& workload) { return workload.name; },
                               [](const UserProgram&) { return std::string(kProgram); },
                               [](const Microbenchmark&) { return std::string(kMicro); },
                               [](const NcclTests&) { return std::string(kNcclTests); }},
                    work);
}

WorkOptions work_options(const Work& work) {
  return std::visit(Overloaded{[](const Microbenchmark& micro) { return micro.options; },
                               [](const auto& other) { return options_of(other); }},
                    work);
}

Work make_work(const std::string& name, WorkOptions options) {
  if (name == kProgram) return program_from(options);
  if (name == kMicro) return Microbenchmark{std::move(options)};
  if (name == kNcclTests) return nccl_tests_from(std::move(options));
  const auto batch = options.find(kBatch);
  const bool batch_is_known = batch == options.end() || batch->second != kNotStated;
  if (!batch_is_known) options.erase(batch);
  return ReferenceWorkload{name, std::move(options), batch_is_known};
}

}  // namespace ddbench
