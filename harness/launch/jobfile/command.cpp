#include "harness/launch/jobfile/command.h"

#include <fmt/format.h>

#include <cctype>

#include "core/run_case/program_case.h"
#include "core/text/shell_words.h"

namespace ddbench::job {
namespace {

constexpr std::size_t kLongestName = 40;  // operators append to it, and a label of DNS ends at 63

}  // namespace

std::string job_name(const Job& job) {
  const std::string wanted =
      !job.run_case.name.empty() ? job.run_case.name
      : job.command == "run"     ? "ddbench-" + work_name(job.run_case.work)
      : job.command == "sweep"   ? "ddbench-sweep-" + work_name(job.run_case.work)
                                 : "ddbench-" + job.command;
  std::string name;
  for (const char c : wanted) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "run-" + name;
  name = name.substr(0, kLongestName);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "ddbench" : name;
}

bool is_restartable(const Job& job) {
  return job.command == "run" && job.run_case.checkpoint_every > 0 && !is_program(job.run_case);
}

std::string command_line(const Job& job, const std::string& launcher, const std::string& default_store) {
  std::vector<std::string> words{"ddbench", job.command, "--launcher", launcher};
  for (std::size_t i = 0; i < job.options.size(); ++i) {
    // A process a node has no ranks beside it; how many GPUs it has is the node's.
    if (job.tensorflow && job.options[i] == "--gpus") ++i;
    else words.push_back(job.options[i]);
  }
  words.insert(words.end(), {"--name", job.run_case.name.empty() ? job_name(job) : job.run_case.name});
  if (is_restartable(job)) words.push_back("--continue");
  const std::string& store = job.store.empty() ? default_store : job.store;
  if (!store.empty()) words.insert(words.end(), {"--db", store});
  if (!job.program.empty()) {
    words.push_back("--");
    words.insert(words.end(), job.program.begin(), job.program.end());
  }
  return shell_words(words);
}

std::string node_script(const Job& job, const std::string& node_rank, const std::string& default_store) {
  return fmt::format(R"(node_rank=${0}
ranks=
trap 'kill -TERM $ranks' TERM INT
for local_rank in $(seq 0 {1}); do
  RANK=$((node_rank * {2} + local_rank)) LOCAL_RANK=$local_rank WORLD_SIZE={3} LOCAL_WORLD_SIZE={2} NODE_RANK=$node_rank \
    {4} &
  ranks="$ranks $!"
done
status=0
for rank in $ranks; do
  wait $rank; ended=$?
  while kill -0 $rank 2>/dev/null; do wait $rank; ended=$?; done
  [ $ended = 0 ] || status=$ended
done
exit $status
)",
                     node_rank, processes_per_node(job) - 1, processes_per_node(job),
                     job.run_case.nodes * processes_per_node(job), command_line(job, "env", default_store));
}

std::string exports(const Job& job) {
  std::string lines;
  for (const auto& [key, value] : job.environment_variables) lines += "export " + shell_words({key + "=" + value}) + "\n";
  return lines;
}

std::string what_follows(const Job& job, const std::string& store) {
  std::string text;
  if (job.command == "sweep")
    text += "All sizes are runs of this one job, the case on 1 GPU first. It ends with the table of the curve.\n";
  if (!store.empty()) text += fmt::format("Into a store of yours:  ddbench db merge {}\n", store);
  text += job.command == "sweep" ? "The curve, and what it costs:  ddbench scaling --where " +
                                      shell_words({"name=" + (job.run_case.name.empty() ? job_name(job) : job.run_case.name)}) + "\n"
                                : "";
  return text;
}

std::string with_doubled_dollars(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '$' ? std::string("$$") : std::string(1, c);
  return doubled;
}

std::string image(const Job& job) {
  return job.image.empty() ? "registry.example.com/ddbench:latest" : job.image;
}

}  // namespace ddbench::job
