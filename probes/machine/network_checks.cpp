#include "probes/machine/network_checks.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>

#include "probes/machine/machine.h"

namespace ddbench::host {
namespace {

namespace fs = std::filesystem;
using Text = Measured<std::string>;

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
// NCCL takes about 10 MB of it for each rank, its profiler and data loaders more.
constexpr double kLeastSharedMemory = kGibibyte;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

bool is_module_loaded(const fs::path& root, const std::string& name) {
  std::error_code ignored;
  return fs::exists(root / "sys/module" / name, ignored);
}

/// The in-tree driver has no version of its own; that of OFED (and DOCA) has.
Text ofed(const fs::path& root) {
  if (!is_module_loaded(root, "mlx5_core") && !is_module_loaded(root, "mlx4_core"))
    return Text::missing("no driver of a Mellanox adapter is loaded");
  const std::string version = first_line(root / "sys/module/mlx5_core/version");
  return version.empty() ? Text("the kernel's own driver, no OFED") : Text("mlx5_core " + version);
}

Text gpudirect(const fs::path& root) {
  for (const char* module : {"nvidia_peermem", "nv_peer_mem"}) {
    if (is_module_loaded(root, module)) return std::string(module);
  }
  return Text::missing("neither nvidia_peermem nor nv_peer_mem is loaded (DMA-BUF may serve instead)");
}

/// A virtual function has the physical one as `physfn`.
Text virtual_functions(const fs::path& root) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& device : fs::directory_iterator(root / "sys/class/infiniband", error)) {
    const std::string name = device.path().filename().string();
    const std::string count = first_line(device.path() / "device/sriov_numvfs");
    if (fs::exists(device.path() / "device/physfn", error)) found.push_back(name + " is a virtual function");
    else if (!count.empty() && count != "0") found.push_back(fmt::format("{} has {} virtual functions", name, count));
    else found.push_back(name + " is a physical function");
  }
  if (found.empty()) return Text::missing("no RDMA device");
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& each : found) text += (text.empty() ? "" : ", ") + each;
  return text;
}

Text shared_memory(const fs::path& root) {
  struct statvfs status {};
  if (::statvfs((root / "dev/shm").c_str(), &status) != 0) return Text::missing("there is no /dev/shm");
  const double bytes = static_cast<double>(status.f_blocks) * static_cast<double>(status.f_frsize);
  const std::string size = fmt::format("{:.3g} GiB", bytes / kGibibyte);
  return bytes < kLeastSharedMemory ? Text::missing(size + ": give containers more (docker run --shm-size 8g, an emptyDir of medium Memory)")
                                    : Text(size);
}

std::string limit_in_words(rlim_t limit, double unit, const char* name) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{:.0f}{}", static_cast<double>(limit) / unit, name);
}

Text locked_memory(rlim_t least) {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string words = limit_in_words(limit.rlim_cur, 1024 * 1024, " MiB");
  return limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least ? Text::missing(words + ": `ulimit -l unlimited`") : Text(words);
}

Text open_files() {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string words = limit_in_words(limit.rlim_cur, 1, "");
  return limit.rlim_cur < 4096 ? Text::missing(words + ": `ulimit -n 65536`") : Text(words);
}

Text nccl_settings() {
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("NCCL_")) found.emplace_back(*entry);
  }
  if (found.empty()) return std::string("none: NCCL chooses");
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& each : found) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace

std::vector<NetworkCheck> check_network_parts(const fs::path& root) {
  constexpr rlim_t kLeastLocked = 1u << 30;
  return {{"OFED", ofed(root), "InfiniBand of Mellanox adapters does not work"},
          {"libibverbs", find_library("libibverbs.so.1"), "NCCL cannot use InfiniBand or RoCE, and takes sockets"},
          {"GPUDirect RDMA", gpudirect(root), "data of GPUs may go through host memory on its way to the network"},
          {"SR-IOV", virtual_functions(root), "nothing on machines without RDMA; a virtual machine needs a virtual function for it"},
          {"/dev/shm", shared_memory(root), "NCCL and data loaders may end in a bus error"},
          {"locked memory", locked_memory(kLeastLocked), "RDMA cannot register its buffers"},
          {"open files", open_files(), "runs of many ranks run out of connections"},
          {"NCCL_* settings", nccl_settings(), ""}};
}

}  // namespace ddbench::host
