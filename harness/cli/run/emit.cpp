#include "harness/cli/run/emit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/text/number.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/launch/jobfile/job_file.h"
#include "harness/training/train.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {
namespace {

constexpr const char* kGroup = "Job file";

/// Options that the job file expresses in its own way, or that only concern a run on this machine.
bool is_for_the_job(const CLI::Option& option) {
  static const std::set<std::string> kSaidByTheFile{"--name",      "--db",       "--json",  "--quiet",
                                                    "--continue",  "--force",  "--launcher", "--hosts", "--hostfile", "--rankfile",
                                                    "--partition", "--account"};
  return option.count() > 0 && !option.get_positional() && option.get_group() != kGroup &&
         kSaidByTheFile.count(option.get_name()) == 0;
}

/// The options of the command line that define the case, as they were given.
std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_for_the_job(*option)) continue;
    const bool is_flag = option->get_expected_max() == 0;
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      // The parser has replaced the time by its nanoseconds.
      if (!is_flag) words.push_back(option->get_name() == "--data-delay" ? value + "ns" : value);
    }
  }
  return words;
}

job::Input input_from(const std::string& text) {
  const auto [name, path] = key_and_value(text, "--input");
  const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
                       std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  if (!is_name || path.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("--input is \"{}\", but it must be NAME=PATH with a name of letters, digits and _", text));
  return {name, path};
}

/// "KEY=VALUE" with a key that shells take as a variable.
std::pair<std::string, std::string> variable_from(const std::string& text) {
  const auto [name, value] = key_and_value(text, "--job-env");
  const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
                       std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  if (!is_name)
    throw Error(ErrorCode::kBadInput, fmt::format("--job-env is \"{}\", but it must be KEY=VALUE with a key of letters, digits and _", text));
  return {name, value};
}

/// "64G" or "512M".
void check_memory(const std::string& text, const char* option) {
  const bool has_unit = text.ends_with('G') || text.ends_with('M');
  const auto number = leading_number<int>(text);
  if (text.empty() || (has_unit && number && number->value > 0 && number->rest.size() == 1)) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{} is \"{}\", but it must be a number of GiB or MiB: 64G, 512M", option, text));
}

job::Toleration toleration_from(const std::string& text) {
  job::Toleration toleration;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) toleration.effect = text.substr(colon + 1);
  toleration.key = text.substr(0, colon);
  if (const std::size_t equals = toleration.key.find('='); equals != std::string::npos) {
    toleration.value = toleration.key.substr(equals + 1);
    toleration.key.erase(equals);
  }
  static const std::set<std::string> kEffects{"", "NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (!toleration.key.empty() && kEffects.count(toleration.effect) > 0) return toleration;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--toleration is \"{}\", but it must be KEY[=VALUE][:EFFECT] with the effect NoSchedule, PreferNoSchedule or NoExecute", text));
}

std::string text_of(const std::string& file) {
  if (file.empty()) return {};
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream || text.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("--template {}: there is no such file that can be read, or it is empty", file));
  return text;
}

job::Resources resources_of(const EmitOptions& options) {
  check_memory(options.memory, "--job-memory");
  check_memory(options.shared_memory, "--shm-size");
  job::Resources resources;
  resources.memory = options.memory;
  resources.shared_memory = options.shared_memory;
  resources.cpus = options.cpus;
  resources.time = options.time;
  if (options.time.find_first_not_of("0123456789:-") != std::string::npos)
    throw Error(ErrorCode::kBadInput, fmt::format("--job-time is \"{}\", but sbatch takes minutes, H:MM:SS or D-HH", options.time));
  resources.exclusive = options.exclusive;
  for (const std::string& label : options.node_labels) resources.node_labels.push_back(key_and_value(label, "--node-label"));
  for (const std::string& toleration : options.tolerations) resources.tolerations.push_back(toleration_from(toleration));
  return resources;
}

/// --data of Azure ML's own paths is mounted where the command then finds it.
void mount_data(job::Job& job) {
  for (std::size_t i = 0; i + 1 < job.options.size(); ++i) {
    std::string& path = job.options[i + 1];
    if (job.options[i] != "--data" || !path.starts_with("azureml:")) continue;
    job.inputs.push_back({"data", path});
    path = "${{inputs.data}}";
  }
}

}  // namespace

void add_emit_options(CLI::App& command, EmitOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* meaning) {
    return command.add_option(name, value, meaning)->group(kGroup);
  };
  CLI::Option* emit =
      add("--emit", options.format,
          "Write the file that starts the case elsewhere, and run nothing: azureml, sbatch, kubeflow (PyTorchJob), "
          "trainjob (Kubeflow's trainer v2) or compose. What talks MPI: --backend mpi");
  add("-o,--output", options.output, "File to write; - is standard output")->capture_default_str()->needs(emit);
  add("--image", options.image, "Container image that has ddbench in its PATH")->needs(emit);
  add("--environment", options.environment, "Azure ML: a registered or curated environment, e.g. azureml:ddbench@latest")->needs(emit);
  add("--compute", options.compute, "Azure ML: the compute target. Without it, --sku is rented as serverless compute")->needs(emit);
  add("--input", options.inputs,
      "Azure ML: NAME=PATH of data that is mounted; the command finds it at '${{inputs.NAME}}'. --data azureml:... does so by itself")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(emit);
  add("--distribution", options.distribution,
      "Azure ML: the distribution type: auto (pytorch, or mpi with --backend mpi) or tensorflow (one process a node, with TF_CONFIG)")
      ->check(CLI::IsMember({"auto", "tensorflow"}))
      ->capture_default_str()
      ->needs(emit);
  add("--tier", options.tier, "Azure ML: dedicated or low-priority nodes")
      ->check(CLI::IsMember({"dedicated", "low-priority"}))
      ->capture_default_str()
      ->needs(emit);
  add("--retries", options.retries, "How often the job is started again after it failed or lost its nodes (Kubeflow, Compose); Slurm: again after it lost its nodes (--requeue)")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->needs(emit);
  add("--rdma-resource", options.rdma_resource, "Kubeflow, with --network ib: the resource of your RDMA device plug-in (default: rdma/ib)")->needs(emit);
  add("--pull-secret", options.pull_secret, "Kubeflow: secret with which the image is pulled")->needs(emit);
  const auto add_list = [&](const char* name, std::vector<std::string>& values, const char* meaning) {
    add(name, values, meaning)->take_all()->allow_extra_args(false)->needs(emit);
  };
  add_list("--job-env", options.job_env, "KEY=VALUE in the environment of every rank, e.g. NCCL_IB_HCA=mlx5; again for each");
  add("--job-memory", options.memory, "Memory of a node: 64G or 512M (GiB, MiB)")->needs(emit);
  add("--job-cpus", options.cpus, "Cores of a rank")->check(CLI::Range(1, 100'000))->needs(emit);
  add("--job-time", options.time, "Slurm: time limit, as sbatch takes it: 30, 2:00:00, 1-12")->needs(emit);
  command.add_flag("--exclusive", options.exclusive, "Slurm: no other job on its nodes")->group(kGroup)->needs(emit);
  add("--shm-size", options.shared_memory, "Containers: size of /dev/shm: 16G (Kubeflow without it: as much as the pod's memory)")->needs(emit);
  add_list("--node-label", options.node_labels, "Kubeflow: KEY=VALUE: only nodes with this label; again for each");
  add_list("--toleration", options.tolerations, "Kubeflow: KEY[=VALUE][:EFFECT]: the pods tolerate this taint; again for each");
  add("--template", options.template_file,
      "A file of your site, in which {{nodes}}, {{command}} and others are replaced; {{file}} is what ddbench would write (docs/guides/slurm.md)")
      ->needs(emit);
}

job::Job job_of(const CLI::App& command, RunOptions& run, const EmitOptions& options) {
  job::Job job;
  job.program = run.program.program;
  job.options = given_options(command);
  job.store = run.db;
  job.gpus = run.device != "cpu";
  job.mpi = run.backend == "mpi";
  job.image = options.image;
  job.environment = options.environment;
  job.compute = options.compute;
  for (const std::string& input : options.inputs) job.inputs.push_back(input_from(input));
  if (options.format == "azureml") mount_data(job);
  job.tensorflow = options.distribution == "tensorflow";
  job.tier = options.tier == "dedicated" ? job::Tier::kDedicated : job::Tier::kLowPriority;
  job.retries = options.retries;
  job.interface = run.launcher.launcher.interface;
  job.rdma_resource = options.rdma_resource;
  job.pull_secret = options.pull_secret;
  job.resources = resources_of(options);
  for (const std::string& variable : options.job_env) job.environment_variables.push_back(variable_from(variable));
  job.site_template = text_of(options.template_file);
  job.partition = run.launcher.launcher.partition;
  job.account = run.launcher.launcher.account;
  // The file states who starts the ranks; which launchers are available on this machine does not matter.
  run.launcher = {};
  run.launcher.name = "local";
  return job;
}

void refuse_repetitions(const RunOptions& run, const EmitOptions& options, const char* instead) {
  if (run.repeats.most == 1 || options.format == "sbatch") return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--repeat with --emit {}: the scheduler starts each rank once, and the ranks serve one run. `{}` repeats runs "
                          "within one job",
                          options.format, instead));
}

void check_emitted(const RunCase& run_case) {
  if (is_program(run_case) || is_micro(run_case)) return;
  RunCase elsewhere = run_case;
  if (elsewhere.data.starts_with("azureml:")) elsewhere.data = "synthetic";
  ddp::check_supported(elsewhere);
  experiment::check_parts_fit(elsewhere);
}

void write_job(const job::Job& job, const EmitOptions& options) {
  const std::string text = job::job_file(job::format_from(options.format), job);
  if (options.output == "-") return print(text);
  reports::write_file(options.output, text);
}

}  // namespace ddbench::cli
