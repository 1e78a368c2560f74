#include "analyzer/import/nsys/export_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/import/nsys/export_file.h"
#include "analyzer/import/nsys/export_machine.h"
#include "analyzer/import/nsys/nccl_payload.h"
#include "analyzer/import/nsys/nvtx_text.h"
#include "analyzer/import/nsys/step_ranges.h"
#include "analyzer/import/trace/collective_names.h"
#include "analyzer/import/trace/rank_builder.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

constexpr std::int64_t kMost_ns = std::int64_t{1} << 61;
// A global id has the process above and the thread below these bits.
constexpr int kThreadBits = 24;
constexpr std::int64_t kPidMask = 0xFFFFFF;
// NVTX_EVENTS.eventType
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;

struct Process {
  Process(const std::filesystem::path& file, const std::string& step_range) : builder(file), steps(step_range) {}

  RankBuilder builder;
  StepRanges steps;
  std::map<std::int64_t, std::size_t> work_by_device;
  std::map<std::uint64_t, NsysCommunicator> communicators;
  bool has_whole_graphs = false;
  std::size_t open_ranges = 0;
};

std::string_view copy_name(std::int64_t kind) {
  switch (kind) {
    case 1: return "Memcpy HtoD";
    case 2: return "Memcpy DtoH";
    case 8: return "Memcpy DtoD";
    case 9: return "Memcpy HtoH";
    case 10: return "Memcpy PtoP";
    default: return "Memcpy";
  }
}

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool is_version = at != std::string_view::npos && at + 2 < name.size() &&
                          name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return is_version ? name.substr(0, at) : name;
}

class ExportReader {
 public:
  ExportReader(const std::filesystem::path& file, const std::string& step_range)
      : from_(file), step_range_(step_range), payloads_(from_) {}

  std::vector<NsysRank> read() {
    read_device_work("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", [this](const Row& row, Process& to) { add_kernel(row, to); });
    read_device_work("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", [this](const Row& row, Process& to) { add_copy(row, to, copy_name(row.detail)); });
    read_device_work("CUPTI_ACTIVITY_KIND_MEMSET", "memKind", [this](const Row& row, Process& to) { add_copy(row, to, "Memset"); });
    read_device_work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graphId", [this](const Row& row, Process& to) { add_graph(row, to); });
    if (processes_.empty()) from_.refuse("it has no work of a GPU: record it with `nsys profile --trace=cuda,nvtx`");
    read_calls();
    read_communicators();
    read_ranges();
    return finish();
  }

 private:
  struct Row {
    TraceEvent event;
    std::int64_t detail = 0;
    std::int64_t stream = 0;
  };

  void check_times(const TraceEvent& event, std::string_view table) const {
    if (event.begin_ns >= -kMost_ns && event.end_ns <= kMost_ns && event.begin_ns <= event.end_ns) return;
    from_.refuse(fmt::format("{} has a row from {} to {} ns: its times are damaged", table, event.begin_ns, event.end_ns));
  }

  template <typename Add>
  void read_device_work(const std::string& table, const std::string& detail, const Add& add) {
    if (!from_.has(table)) return;
    const std::string sql = fmt::format(R"(SELECT start, "end", {}, {}, {}, {}, {}, {} FROM {})",
                                        from_.or_null(table, "globalPid"), from_.or_null(table, "deviceId"),
                                        from_.or_null(table, "streamId"), from_.or_null(table, "correlationId"),
                                        from_.or_null(table, detail), from_.or_null(table, "bytes"), table);
    from_.each(sql, [&](const store::Statement& cells) {
      Row row;
      std::int64_t global_pid = 0;
      std::int64_t correlation = 0;
      cells.read(row.event.begin_ns, row.event.end_ns, global_pid, row.event.device, row.stream, correlation, row.detail,
                 row.event.bytes);
      check_times(row.event, table);
      if (!cells.is_null(5) && correlation >= 0) row.event.correlation = static_cast<std::uint64_t>(correlation);
      Process& process = processes_.try_emplace(global_pid >> kThreadBits, from_.file(), step_range_).first->second;
      add(row, process);
      ++process.work_by_device[row.event.device];
    });
  }

  void add_kernel(const Row& row, Process& to) {
    TraceEvent event = row.event;
    event.name = from_.string(row.detail);
    if (event.name.empty()) event.name = "kernel";
    event.stream = row.stream;
    to.builder.add_kernel(event);
  }

  void add_copy(const Row& row, Process& to, std::string_view name) {
    TraceEvent event = row.event;
    event.name = name;
    to.builder.add_copy(event);
  }

  void add_graph(const Row& row, Process& to) {
    TraceEvent event = row.event;
    event.name = "CUDA graph";
    to.has_whole_graphs = true;
    to.builder.add_kernel(event);
  }

  Process* process_of(std::int64_t global_tid) {
    const auto found = processes_.find(global_tid >> kThreadBits);
    return found == processes_.end() ? nullptr : &found->second;
  }

  void read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!from_.has(table)) return;
    from_.each(R"(SELECT start, "end", globalTid, correlationId, nameId FROM )" + table, [&](const store::Statement& row) {
      TraceEvent event;
      std::int64_t correlation = 0;
      std::int64_t name = 0;
      row.read(event.begin_ns, event.end_ns, event.thread, correlation, name);
      check_times(event, table);
      Process* const process = process_of(event.thread);
      if (process == nullptr) return;
      if (!row.is_null(3) && correlation >= 0) event.correlation = static_cast<std::uint64_t>(correlation);
      event.name = without_version(from_.string(name));
      process->builder.add_launch(event);
    });
  }

  void read_communicators() {
    if (!from_.has("NVTX_EVENTS", "binaryData")) return;
    from_.each("SELECT globalTid, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL", [&](const store::Statement& row) {
      const NcclPayload payload = payloads_.read(row.blob(1));
      Process* const process = process_of(row.integer(0));
      if (process == nullptr || !payload.communicator) return;
      constexpr std::int64_t kMostPeers = 1 << 20;
      if (!payload.ranks || !payload.rank || *payload.rank < 0 || *payload.rank >= *payload.ranks || *payload.ranks > kMostPeers)
        return;
      process->communicators[*payload.communicator] = {static_cast<int>(*payload.rank), static_cast<int>(*payload.ranks)};
    });
  }

  void read_ranges() {
    const std::string table = "NVTX_EVENTS";
    if (!from_.has(table)) return;
    const std::string sql = fmt::format(R"(SELECT start, "end", eventType, globalTid, {}, {}, {} FROM {} WHERE eventType IN ({}, {}))",
                                        from_.or_null(table, "text"), from_.or_null(table, "textId"),
                                        from_.or_null(table, "binaryData"), table, kPushPop, kStartEnd);
    from_.each(sql, [&](const store::Statement& row) {
      TraceEvent event;
      std::int64_t type = 0, text_id = 0;
      std::string text;
      row.read(event.begin_ns, event.end_ns, type, event.thread, text, text_id);
      Process* const process = process_of(event.thread);
      if (process == nullptr) return;
      if (row.is_null(1)) {
        ++process->open_ranges;
        return;
      }
      check_times(event, table);
      event.name = text.empty() ? from_.string(text_id) : std::string_view(text);
      if (type == kPushPop && event.name.starts_with("nccl")) return add_enqueued(event, row.blob(6), *process);
      const NvtxText parsed = parse_nvtx_text(event.name);
      event.name = parsed.name;
      event.autograd_sequence = parsed.sequence;
      if (process->steps.marks_step(event.name)) return process->steps.add(event);
      if (type == kPushPop) add_operator(event, *process);
    });
  }

  static void add_operator(TraceEvent event, Process& to) {
    const CallKind kind = call_kind_of(event.name);
    event.is_backward =
        event.autograd_sequence && (kind == CallKind::kBackward || event.name.find("Backward") != std::string_view::npos);
    // Ranges defined by users are no evidence of what the host does in them.
    if (kind != CallKind::kOther || event.autograd_sequence) to.builder.add_operator(event, kind);
  }

  void add_enqueued(const TraceEvent& event, std::span<const std::byte> blob, Process& to) {
    const NcclPayload payload = payloads_.read(blob);
    if (!payload.communicator || !payload.bytes) return to.builder.add_enqueued(event, event.name, 0);
    const auto known = to.communicators.find(*payload.communicator);
    const int ranks = known == to.communicators.end() ? 0 : known->second.ranks;
    const auto bytes = bytes_of_all_ranks(collective_function(event.name), *payload.bytes, ranks);
    to.builder.add_enqueued(event, event.name, bytes.value_or(0), fmt::format("{:016x}", *payload.communicator), ranks);
  }

  /// As NsysRank::why_no_steps: a process may be no rank.
  std::string build_steps(std::int64_t key, Process& process) const {
    const std::size_t steps = process.steps.add_to(process.builder);
    if (steps > 0 || step_range_.empty()) return {};
    std::string names;
    from_.each(fmt::format("SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) AS name, count(*) FROM NVTX_EVENTS "
                           "WHERE eventType IN ({}, {}) AND globalTid >> {} = {} AND name IS NOT NULL GROUP BY name "
                           "ORDER BY count(*) DESC, name LIMIT 8",
                           kPushPop, kStartEnd, kThreadBits, key),
               [&](const store::Statement& row) {
                 std::string name;
                 row.read(name);
                 names += fmt::format("{}{}", names.empty() ? "" : ", ", name.substr(0, 60));
               });
    return fmt::format("process {} has no NVTX range {}; it has {}", key & kPidMask, step_range_, names.empty() ? "none at all" : names);
  }

  void note(Process& process) const {
    if (process.has_whole_graphs)
      process.builder.note("CUDA graphs were recorded as a whole (nsys profile --cuda-graph-trace=node records their kernels): what "
                           "they communicate counts as compute");
    if (process.open_ranges > 0)
      process.builder.note(fmt::format("{} NVTX ranges have no end and were left out", process.open_ranges));
    if (process.work_by_device.size() > 1)
      process.builder.note(fmt::format("a process used {} GPUs: it counts as one rank", process.work_by_device.size()));
  }

  /// Of a communicator that was made before the recording began, NCCL's payload may be missing, too.
  static void note_unknown_groups(RankTrace& trace) {
    if (trace.collectives_of_unknown_group == 0) return;
    trace.notes.push_back(fmt::format(
        "the export does not say of which communicator {} of {} collectives of a process are (nsys export --include-blobs=true keeps what "
        "NCCL wrote): they are not joined, and their waits for peers are not known",
        trace.collectives_of_unknown_group, trace.collectives.size()));
  }

  std::vector<NsysRank> finish() {
    const TraceInfo info = machine_of(from_);
    std::vector<NsysRank> ranks;
    for (auto& [key, process] : processes_) {
      std::string why_no_steps = build_steps(key, process);
      note(process);
      process.builder.info() = info;
      process.builder.set_clock(from_.file().string());
      process.builder.set_hash(from_.hash() + static_cast<std::uint64_t>(key));
      NsysRank& rank = ranks.emplace_back();
      rank.trace = process.builder.finish();
      rank.why_no_steps = std::move(why_no_steps);
      note_unknown_groups(rank.trace);
      rank.pid = key & kPidMask;
      rank.device = static_cast<int>(std::max_element(process.work_by_device.begin(), process.work_by_device.end(),
                                                      [](const auto& a, const auto& b) { return a.second < b.second; })
                                         ->first);
      rank.communicators = std::move(process.communicators);
    }
    std::sort(ranks.begin(), ranks.end(), [](const NsysRank& a, const NsysRank& b) {
      return std::tie(a.device, a.pid) < std::tie(b.device, b.pid);
    });
    return ranks;
  }

  NsysExport from_;
  std::string step_range_;
  NcclPayloads payloads_;
  std::map<std::int64_t, Process> processes_;  ///< by the process's part of its global id
};

}  // namespace

std::vector<NsysRank> read_nsys_export(const std::filesystem::path& file, const std::string& step_range) {
  return ExportReader(file, step_range).read();
}

}  // namespace ddbench::imports
