#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "harness/collective/communicator.h"
#include "harness/collective/gloo_patch_switch.h"
#include "harness/device/device.h"
#include "harness/launch/local/probe_namespaces.h"
#include "harness/plugin/probes/open_cuda_probe.h"
#include "probes/machine/machine.h"
#include "probes/machine/network_checks.h"
#include "probes/nvml/gpu_monitor.h"

namespace ddbench::cli {
namespace {

/// One line of the doctor's report. A finding without a value states what its absence costs.
struct Finding {
  std::string what;
  Measured<std::string> value;
  std::string cost;  ///< of its absence; empty when nothing is lost
};

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

Measured<std::string> gpus_text(const host::Machine& machine) {
  if (machine.gpus.empty()) return Measured<std::string>::missing("none seen");
  std::vector<std::string> models;
  for (const host::Gpu& gpu : machine.gpus) models.push_back(gpu.model ? *gpu.model : "GPU " + gpu.bus_id);
  return joined(models);
}

Measured<std::string> infiniband_text(const host::Machine& machine) {
  if (machine.infiniband.empty()) return Measured<std::string>::missing("no device");
  std::vector<std::string> ports;
  for (const host::InfinibandPort& port : machine.infiniband) {
    ports.push_back(fmt::format("{}/{} {} {}{}", port.device, port.port, port.link_layer, port.state,
                                port.gbit ? fmt::format(" {:g} Gbit/s", *port.gbit) : ""));
  }
  return joined(ports);
}

Measured<std::string> interfaces_text(const host::Machine& machine) {
  std::vector<std::string> texts;
  for (const host::NetworkInterface& nic : machine.interfaces) {
    if (!nic.up) continue;
    texts.push_back(nic.mbit ? fmt::format("{} {} Mbit/s", nic.name, *nic.mbit)
                             : nic.name + " (rate unknown)");
  }
  if (texts.empty()) return Measured<std::string>::missing("none up");
  return joined(texts);
}

Measured<std::string> library(const std::initializer_list<const char*>& sonames) {
  std::string reason;
  for (const char* soname : sonames) {
    const auto found = host::find_library(soname);
    if (found) return found;
    if (reason.empty()) reason = found.reason();
  }
  return Measured<std::string>::missing(reason);
}

Measured<std::string> command(const char* name) {
  const char* path = std::getenv("PATH");
  return host::find_command(name, path == nullptr ? "" : path);
}

Measured<std::string> text_of(const Measured<std::int64_t>& bytes) {
  if (!bytes) return Measured<std::string>::missing(bytes.reason());
  return fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / (1024.0 * 1024 * 1024));
}

Measured<std::string> device_text(std::string_view name) {
  try {
    return device::make_device(name)->description();
  } catch (const Error& error) {
    return Measured<std::string>::missing(error.message());
  }
}

Measured<std::string> backend_text(std::string_view name) {
  try {
    collective::check_backend(name);
    return std::string("available");
  } catch (const Error& error) {
    return Measured<std::string>::missing(error.message());
  }
}

Measured<std::string> gloo_patch_text() {
  if (!collective::gloo_trylock_patch_is_on()) {
    return Measured<std::string>::missing(fmt::format("{}=off", collective::kGlooTrylockPatchVariable));
  }
  return fmt::format("on ({}=off turns it off)", collective::kGlooTrylockPatchVariable);
}

Measured<std::string> kernels_text() {
  try {
    probe::check_cuda_probe();
    return std::string("available");
  } catch (const Error& error) {
    return Measured<std::string>::missing(error.message());
  }
}

Measured<std::string> nvml_text() {
  std::string why_not;
  if (cuda::open_nvml(why_not) == nullptr) return Measured<std::string>::missing(why_not);
  return std::string("available");
}

Measured<std::string> namespaces_text() {
  const auto user_namespace = launch::probe_namespaces();
  if (!user_namespace) return Measured<std::string>::missing(user_namespace.reason());
  return std::string(*user_namespace ? "allowed, inside a user namespace" : "allowed");
}

Measured<std::string> store_text() {
  try {
    const std::filesystem::path file = store_path("");
    return fmt::format("{}: {}", file.string(), store::journal_in_use(file));
  } catch (const Error& error) {
    return Measured<std::string>::missing(error.message());
  }
}

std::vector<Finding> examine() {
  const host::Machine machine = host::inspect_machine();
  const auto cores = machine.cores ? Measured<std::string>(std::to_string(*machine.cores))
                                   : Measured<std::string>::missing(machine.cores.reason());
  std::vector<Finding> findings{
      {"CPU", machine.cpu_model, ""},
      {"cores", cores, "runs with more ranks than cores cannot be marked as oversubscribed"},
      {"memory available", text_of(machine.available_memory_bytes), "cases that do not fit are not refused"},
      {"CPU governor", machine.governor, "clock changes of the CPU between runs go unnoticed"},
      {"device cpu (oneDNN)", device_text("cpu"), "no training on CPUs"},
      {"device cuda", device_text("cuda"), "no training on GPUs"},
      {"GPUs", gpus_text(machine), "ranks run on CPU cores"},
      {"NVIDIA driver", machine.nvidia_driver, "no GPU can be used"},
      {"kernels on GPUs (CUPTI)", kernels_text(),
       "no kernels in a run's spans, only operators timed by events"},
      {"GPU energy (NVML)", nvml_text(), "energy and throttling of GPUs go unnoticed"},
      {"collectives over NCCL", backend_text("nccl"), "no runs of several ranks on GPUs"},
      {"collectives over Gloo", backend_text("gloo"), "no runs of several ranks on CPUs"},
      {"Gloo's lock patch", gloo_patch_text(), "Gloo may wait 4 ms for a lock that is held for microseconds"},
      {"collectives over MPI", backend_text("mpi"), "no --backend mpi"},
      {"MPI", library({"libmpi.so.40", "libmpi.so.12"}),
       "programs that talk MPI do not run; mpirun cannot place ranks"},
      {"mpirun", command("mpirun"), "no launching over hosts by MPI"},
      {"Slurm (srun)", command("srun"), "no launching inside a Slurm allocation"},
      {"InfiniBand", infiniband_text(machine), "nodes talk over Ethernet or emulated links"},
      {"network interfaces", interfaces_text(machine), "other machines cannot be reached"},
      {"store", store_text(), "runs are not kept"},
      {"network namespaces", namespaces_text(),
       "nodes on this machine share plain loopback; --link is not possible"},
  };
  for (host::NetworkCheck& check : host::check_network_parts())
    findings.push_back({std::move(check.what), std::move(check.value), std::move(check.cost)});
  return findings;
}

std::string report_text(const std::vector<Finding>& findings, bool color) {
  const char* green = color ? "\033[32m" : "";
  const char* yellow = color ? "\033[33m" : "";
  const char* reset = color ? "\033[0m" : "";
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.value) {
      text += fmt::format("{}ok{}  {:<24} {}\n", green, reset, finding.what, printable(*finding.value));
    } else {
      text +=
          fmt::format("{}--{}  {:<24} {}\n", yellow, reset, finding.what, printable(finding.value.reason()));
      if (!finding.cost.empty()) text += fmt::format("    {:<24} -> {}\n", "", finding.cost);
    }
  }
  return text;
}

std::string report_json(const std::vector<Finding>& findings) {
  auto report = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    nlohmann::ordered_json entry{{"what", finding.what}, {"found", static_cast<bool>(finding.value)}};
    if (finding.value) {
      entry["value"] = *finding.value;
    } else {
      entry["reason"] = finding.value.reason();
      entry["cost"] = finding.cost;
    }
    report.push_back(std::move(entry));
  }
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Check this machine and build; list what is missing and what that disables");
  const auto json = std::make_shared<bool>(false);
  add_json_option(*command, *json);
  add_examples(*command, {{"doctor", "what works here, what does not, and what to install"}});
  command->callback([&action, json] {
    action = [json] {
      const std::vector<Finding> findings = examine();
      print(*json ? report_json(findings) : report_text(findings, stdout_style().color));
      return 0;
    };
  });
}

}  // namespace ddbench::cli
