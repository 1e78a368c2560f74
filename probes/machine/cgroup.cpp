#include "probes/machine/cgroup.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/number.h"
#include "probes/machine/kernel_files.h"

namespace ddbench::host {
namespace {

namespace fs = std::filesystem;

/// Directories of one hierarchy, from this process's group up to where the hierarchy is mounted.
struct Hierarchy {
  bool version_2 = false;
  std::vector<fs::path> levels;
};

bool lists(std::string_view comma_list, std::string_view name) {
  const std::vector<std::string_view> parts = split(comma_list, ',');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

/// The group's path in the hierarchy of `controller`, "" naming version 2.
std::optional<std::string> group_path(std::string_view self_cgroup, std::string_view controller) {
  for (const std::string_view line : split(self_cgroup, '\n')) {
    const std::vector<std::string_view> parts = split(line, ':');
    if (parts.size() < 3) continue;
    if (controller.empty() ? parts[1].empty() : lists(parts[1], controller)) {
      return std::string(line.substr(parts[0].size() + parts[1].size() + 2));
    }
  }
  return std::nullopt;
}

std::vector<fs::path> levels_below(const fs::path& mount, std::string_view mounted, std::string_view group) {
  // In a container the mount may show only a part of the hierarchy, or the group may be outside of it.
  std::string_view below = group;
  if (mounted != "/") below = group.starts_with(mounted) ? group.substr(mounted.size()) : std::string_view{};
  if (below.find("..") != std::string_view::npos) below = {};
  std::vector<fs::path> levels = {mount};
  for (const std::string_view part : split(below, '/')) {
    if (!part.empty()) levels.push_back(levels.back() / part);
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

std::vector<Hierarchy> hierarchies(const fs::path& root, std::string_view controller) {
  const std::string mounts = read_text(root / "proc/self/mountinfo").value_or("");
  const std::string groups = read_text(root / "proc/self/cgroup").value_or("");
  std::vector<Hierarchy> found;
  for (const std::string_view line : split(mounts, '\n')) {
    const std::vector<std::string_view> parts = words(line);
    const auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 5 || parts.end() - dash < 4) continue;
    const bool version_2 = dash[1] == "cgroup2";
    if (!version_2 && !(dash[1] == "cgroup" && lists(dash[3], controller))) continue;
    const std::optional<std::string> group = group_path(groups, version_2 ? std::string_view{} : controller);
    if (!group) continue;
    found.push_back({version_2, levels_below(root / fs::path(parts[4]).relative_path(), parts[3], *group)});
  }
  return found;
}

std::optional<double> cpu_cores_of(const fs::path& level, bool version_2) {
  std::optional<double> quota;
  std::optional<double> period;
  if (version_2) {
    const std::string text = read_text(level / "cpu.max").value_or("");
    const std::vector<std::string_view> parts = words(text);
    if (parts.size() == 2) {
      quota = number_from<double>(parts[0]);
      period = number_from<double>(parts[1]);
    }
  } else {
    quota = number_from<double>(read_text(level / "cpu.cfs_quota_us").value_or(""));
    period = number_from<double>(read_text(level / "cpu.cfs_period_us").value_or(""));
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<std::int64_t> throttled_ns_of(const fs::path& level) {
  const std::string stat = read_text(level / "cpu.stat").value_or("");
  for (const std::string_view line : split(stat, '\n')) {
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() != 2) continue;
    const auto value = number_from<std::int64_t>(parts[1]);
    if (parts[0] == "throttled_usec" && value) return *value * 1000;  // version 2
    if (parts[0] == "throttled_time" && value) return value;          // version 1
  }
  return std::nullopt;
}

struct MemoryLevel {
  std::int64_t limit_bytes = 0;
  std::optional<std::int64_t> left_bytes;
};

std::optional<MemoryLevel> memory_of(const fs::path& level, bool version_2) {
  const auto limit = read_number(level / (version_2 ? "memory.max" : "memory.limit_in_bytes"));
  if (!limit || *limit >= (std::int64_t{1} << 60))
    return std::nullopt;  // version 1 writes "no limit" as 2^63
  MemoryLevel found{*limit, std::nullopt};
  const auto used = read_number(level / (version_2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!used) return found;
  std::int64_t reclaimable = 0;
  const std::string stat = read_text(level / "memory.stat").value_or("");
  for (const std::string_view line : split(stat, '\n')) {
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() == 2 && parts[0] == (version_2 ? "inactive_file" : "total_inactive_file")) {
      reclaimable = number_from<std::int64_t>(parts[1]).value_or(0);
    }
  }
  found.left_bytes = std::clamp<std::int64_t>(*limit - *used + reclaimable, 0, *limit);
  return found;
}

template <typename T>
void keep_smaller(std::optional<T>& kept, const std::optional<T>& other) {
  if (other && (!kept || *other < *kept)) kept = other;
}

template <typename T>
Measured<T> measured(const std::optional<T>& value, const char* reason) {
  return value ? Measured<T>(*value) : Measured<T>::missing(reason);
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  std::optional<double> cores;
  for (const Hierarchy& hierarchy : hierarchies(root, "cpu")) {
    for (const fs::path& level : hierarchy.levels)
      keep_smaller(cores, cpu_cores_of(level, hierarchy.version_2));
  }
  std::optional<std::int64_t> limit_bytes;
  std::optional<std::int64_t> left_bytes;
  for (const Hierarchy& hierarchy : hierarchies(root, "memory")) {
    for (const fs::path& level : hierarchy.levels) {
      const std::optional<MemoryLevel> memory = memory_of(level, hierarchy.version_2);
      if (!memory) continue;
      keep_smaller(limit_bytes, std::optional(memory->limit_bytes));
      keep_smaller(left_bytes, memory->left_bytes);
    }
  }
  return {measured(cores, "no control group limits the CPU time"),
          measured(limit_bytes, "no control group limits the memory"),
          measured(left_bytes, "no control group limits the memory")};
}

Measured<std::int64_t> read_throttled_ns(const fs::path& root) {
  std::optional<std::int64_t> most_ns;
  for (const Hierarchy& hierarchy : hierarchies(root, "cpu")) {
    for (const fs::path& level : hierarchy.levels) {
      const auto throttled_ns = throttled_ns_of(level);
      if (throttled_ns && (!most_ns || *throttled_ns > *most_ns)) most_ns = throttled_ns;
    }
  }
  return measured(most_ns, "no control group counts throttling");
}

}  // namespace ddbench::host
