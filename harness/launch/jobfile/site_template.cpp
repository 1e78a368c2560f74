#include "harness/launch/jobfile/site_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/error.h"
#include "harness/launch/jobfile/command.h"

namespace ddbench::job {
namespace {

using Values = std::map<std::string, std::string>;

Values values_of(const Job& job, Format format, const std::string& file) {
  const int per_node = processes_per_node(job);
  return {{"name", job_name(job)},
          {"nodes", std::to_string(job.run_case.nodes)},
          {"ranks", std::to_string(job.run_case.nodes * per_node)},
          {"ranks_per_node", std::to_string(per_node)},
          {"gpus_per_node", std::to_string(job.gpus ? job.run_case.gpus_per_node : 0)},
          {"image", job.image},
          {"partition", job.partition},
          {"account", job.account},
          {"time", job.resources.time},
          {"memory", job.resources.memory},
          {"cpus", job.resources.cpus > 0 ? std::to_string(job.resources.cpus) : ""},
          {"interface", job.interface},
          {"store", job.store},
          {"environment", exports(job)},
          {"command", command_line(job, format == Format::kSbatch ? "srun" : "env", "")},
          {"file", file}};
}

[[noreturn]] void refuse(const std::string& name, std::size_t line, const Values& values) {
  std::vector<std::string> known;
  for (const auto& [key, value] : values) known.push_back(key);
  throw Error(ErrorCode::kBadInput, fmt::format("--template: line {} has the placeholder {{{{{}}}}}, which is none of: {}", line, name,
                                                fmt::join(known, ", ")));
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::string filled_template(const Job& job, Format format, const std::string& file) {
  const Values values = values_of(job, format, file);
  const std::string& text = job.site_template;
  std::string filled;
  std::size_t at = 0;
  for (std::size_t begin = text.find("{{"); begin != std::string::npos; begin = text.find("{{", at)) {
    const std::size_t end = text.find("}}", begin);
    const std::size_t line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    if (end == std::string::npos)
      throw Error(ErrorCode::kBadInput, fmt::format("--template: line {} begins a placeholder that does not end with }}}}", line));
    filled += text.substr(at, begin - at);
    at = end + 2;
    const bool is_azures = begin > 0 && text[begin - 1] == '$';
    const std::string name = trimmed(text.substr(begin + 2, end - begin - 2));
    const auto value = values.find(name);
    if (!is_azures && value == values.end()) refuse(name, line, values);
    filled += is_azures ? text.substr(begin, at - begin) : value->second;
  }
  return filled + text.substr(at);
}

}  // namespace ddbench::job
