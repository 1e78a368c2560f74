#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ddbench {

enum class FactType : std::uint8_t {
  kInteger,   ///< std::int64_t: "4"
  kReal,      ///< double, in the entry's format: "12.5"
  kText,      ///< std::string
  kSwitch,    ///< bool: "on", "off"
  kList,      ///< std::vector<std::string>, joined by ", "; no entry has a comma
  kEstimate,  ///< FactEstimate: "12.3 8.0 16.9", the value and its interval
};

/// What it means that two runs differ in a fact.
enum class FactSubject : std::uint8_t {
  kEnvironment,  ///< the machine, its software and its settings: may decide speed
  kNetwork,      ///< a consequence of the same fields as the network, else as kEnvironment
  kWork,         ///< a consequence of the requested work, else as kEnvironment
  kThisRun,      ///< differs between any two runs and has no influence on their speed
};

/// One kind of fact. A "*" in the key is a placeholder for one part: "gpu.*.model" matches "gpu.0.model".
struct FactSpec {
  std::string_view key;
  FactType type;
  FactSubject subject;
  std::string_view unit;
  std::string_view description;
  std::string_view format = "{}";  ///< of a real, for fmt
};

using enum FactType;
using enum FactSubject;

/// The registry of facts: the information that a run reports apart from its figures, as Environment::facts.
/// Facts that a machine counted during the run are stored with "counted." before the key, and with
/// "counted.nodeN." if there are several machines. A newer store may have others: they are shown as text.
inline constexpr auto kFactTable = std::to_array<FactSpec>({
    // Analysis
    {"analysis.clock_contradictions", kInteger, kThisRun, "s",
     "seconds in which collectives contradicted the readings of the clocks; absent when 0"},
    {"analysis.communicators_unknown", kText, kThisRun, "",
     "why the size of a communicator is not known; absent where all are"},
    {"analysis.compute_slowdown_percent", kEstimate, kThisRun, "%",
     "what compute beside communication takes longer than without"},
    {"analysis.cpu_wait", kText, kThisRun, "",
     "\"measured\" where every rank reported how long its threads waited for a core in each step"},
    {"analysis.damaged_spans", kInteger, kThisRun, "",
     "spans with impossible times, which were left out; absent when 0"},
    {"analysis.incomplete_collectives", kInteger, kThisRun, "",
     "collectives of measured steps that could not be joined over the ranks; absent when 0"},
    {"analysis.reduced_steps", kInteger, kThisRun, "",
     "measured steps, counted over ranks, whose spans were kept reduced: they are in every figure but the "
     "kernel rows; absent when 0"},
    // Machine
    {"boot_id", kText, kThisRun, "", "boot of the machine"},
    {"command.*", kText, kThisRun, "", "where a tool was found"},
    {"cores.shared_with", kText, kThisRun, "", "other runs that had ranks on cores of this one, on CPUs"},
    {"cores.unclaimed", kText, kThisRun, "", "why it is not known whether other runs had ranks on its cores"},
    {"cpu.cores", kInteger, kEnvironment, "", "cores that the run may use"},
    {"cpu.frequency_mhz", kReal, kThisRun, "MHz", "mean clock of the cores at the end of the run", "{:.0f}"},
    {"cpu.model", kText, kEnvironment, "", "processor"},
    {"cpu.quota_cores", kReal, kEnvironment, "", "cores' worth of time that a control group grants"},
    {"cpu.stolen_percent", kReal, kThisRun, "%",
     "processor time that this machine wanted and a hypervisor gave to others", "{:.1f}"},
    {"cpu.thermal_throttles", kInteger, kThisRun, "", "times that a core was slowed down for its heat"},
    {"cpu.throttled_percent", kReal, kThisRun, "%", "time for which a control group's limit held threads up",
     "{:.1f}"},
    {"cpu_wait.unavailable", kText, kEnvironment, "", "why a rank could not measure CPU wait"},
    {"governor", kText, kEnvironment, "", "frequency governor of the cores"},
    {"gpu.*.ecc_corrected", kReal, kThisRun, "", "memory errors of a GPU that were corrected", "{:.6g}"},
    {"gpu.*.ecc_uncorrected", kReal, kThisRun, "", "memory errors of a GPU that were not corrected",
     "{:.6g}"},
    {"gpu.*.energy_j", kReal, kThisRun, "J", "energy that a GPU took", "{:.6g}"},
    {"gpu.*.highest_temperature_c", kReal, kThisRun, "°C", "highest temperature of a GPU", "{:.6g}"},
    {"gpu.*.lowest_sm_clock_mhz", kReal, kThisRun, "MHz", "lowest clock of a GPU", "{:.6g}"},
    {"gpu.*.model", kText, kEnvironment, "", "model of a GPU"},
    {"gpu.*.power_w", kReal, kThisRun, "W", "mean power of a GPU", "{:.6g}"},
    {"gpu.*.sm_clock_mhz", kReal, kThisRun, "MHz", "mean clock of a GPU", "{:.6g}"},
    {"gpu.*.throttled", kList, kEnvironment, "", "why a GPU was slowed down"},
    {"gpu.*.utilisation", kReal, kThisRun, "%", "share of the time in which a GPU ran kernels", "{:.6g}"},
    {"gpu.count", kInteger, kEnvironment, "", "GPUs of the machine"},
    {"gpu.energy_j", kReal, kThisRun, "J", "energy of all GPUs that were busy", "{:.6g}"},
    {"gpu.energy_j_per_sample", kReal, kThisRun, "J", "energy of the GPUs for each sample", "{:.6g}"},
    {"hostname", kText, kThisRun, "", "name of the machine"},
    {"ib.*.*", kInteger, kThisRun, "", "a counter of an InfiniBand port that moved"},
    {"infiniband.*.*.gbit", kReal, kEnvironment, "Gbit/s", "rate of an InfiniBand port"},
    {"infiniband.*.*.link_layer", kText, kEnvironment, "", "link layer of an InfiniBand port"},
    {"infiniband.*.*.state", kText, kEnvironment, "", "state of an InfiniBand port"},
    {"kernel", kText, kEnvironment, "", "version of the kernel"},
    {"library.*", kText, kEnvironment, "", "where a library was found"},
    {"memory.available_bytes", kInteger, kThisRun, "B", "memory that was free when the run began"},
    {"memory.bytes", kInteger, kEnvironment, "B", "memory of the machine"},
    {"nic.*.drops", kInteger, kThisRun, "", "packets that an interface dropped; absent when 0"},
    {"nic.*.errors", kInteger, kThisRun, "", "errors of an interface; absent when 0"},
    {"nic.*.mbit", kInteger, kEnvironment, "Mbit/s", "rate of an interface"},
    {"nic.*.received_bytes", kInteger, kThisRun, "B", "bytes that an interface received"},
    {"nic.*.sent_bytes", kInteger, kThisRun, "B", "bytes that an interface sent"},
    {"nic.*.state", kText, kEnvironment, "", "\"up\" or \"down\""},
    {"nvidia.driver", kText, kEnvironment, "", "version of NVIDIA's driver"},
    // GPU and NCCL probes
    {"cupti.detail", kText, kEnvironment, "", "\"graph\": launches of CUDA graphs were recorded as wholes (--gpu-detail); absent where nodes were"},
    {"cupti.dropped_records", kInteger, kEnvironment, "", "records that CUPTI dropped; absent when 0"},
    {"cupti.filtered_windows", kInteger, kEnvironment, "",
     "probe-off windows in which CUPTI went on recording: versions before 13.1 Update 1 mix up the launches of graphs "
     "when recording begins again. Their steps include its cost; absent when 0"},
    {"cupti.hardware_events", kInteger, kEnvironment, "", "ranks whose kernels the GPU's own event system timed (Blackwell); absent when 0"},
    {"cupti.invalid_times", kInteger, kEnvironment, "", "records of CUPTI with impossible times"},
    {"cupti.newer_records", kInteger, kEnvironment, "",
     "version of CUPTI, where its records are newer than those that this build knows"},
    {"cupti.overhead_ns", kInteger, kEnvironment, "ns", "what CUPTI says that it took"},
    {"cupti.recording_errors", kInteger, kEnvironment, "", "buffers of CUPTI that could not be read"},
    {"cupti.records", kInteger, kEnvironment, "", "records of CUPTI"},
    {"cupti.refused_buffers", kInteger, kEnvironment, "", "buffers that CUPTI did not get"},
    {"cupti.shared_with", kText, kEnvironment, "", "the tool beside which ddbench used CUPTI"},
    {"cupti.unavailable", kText, kEnvironment, "", "why no kernels were recorded, and on how many ranks"},
    {"cupti.without_range", kInteger, kEnvironment, "", "kernels outside of all ranges of ddbench"},
    {"nccl.NCCL_*", kText, kEnvironment, "", "a setting of NCCL"},
    {"nccl.events_alone", kInteger, kEnvironment, "",
     "collectives that NCCL reported on ranks without any kernel of NCCL's"},
    {"nccl.events_without_kernel", kInteger, kEnvironment, "", "collectives of NCCL without a kernel"},
    {"nccl.final_sync_ns", kInteger, kThisRun, "ns",
     "wait for the ranks at the end of symmetric kernels, by the GPU's clock; sum over collectives and ranks"},
    {"nccl.foreign_proxies", kInteger, kEnvironment, "", "network events of another process's collectives"},
    {"nccl.initial_sync_ns", kInteger, kThisRun, "ns",
     "wait for the ranks at the beginning of symmetric kernels, by the GPU's clock; sum over collectives and ranks"},
    {"nccl.joined", kInteger, kEnvironment, "", "collectives of NCCL that were joined with their kernel"},
    {"nccl.kernels_joined_by_order", kInteger, kEnvironment, "",
     "kernels of NCCL that were joined by their order"},
    {"nccl.kernels_without_event", kInteger, kEnvironment, "", "kernels of NCCL without a collective"},
    {"nccl.no_kernel_events", kText, kEnvironment, "", "why NCCL was not asked for the times of its kernels"},
    {"nccl.peer_wait_by_clocks_ns", kInteger, kThisRun, "ns",
     "peer wait of the collectives behind nccl.peer_wait_by_phases_ns, by the ranks' clocks, to compare; absent when 0"},
    {"nccl.peer_wait_by_phases_ns", kInteger, kThisRun, "ns",
     "peer wait that NCCL reported by the GPU's clock (2.31, symmetric kernels), which steps use; of the collectives that "
     "the ranks' clocks compare too; sum over collectives and ranks; absent when 0"},
    {"nccl.transport", kList, kNetwork, "", "transports that NCCL reported"},
    {"nccl.unfinished", kInteger, kEnvironment, "", "collectives of NCCL that did not end"},
    {"nccl.unknown_bytes", kInteger, kEnvironment, "",
     "collectives of NCCL whose bytes are not known: version 3 of its profiler reports no number of ranks; absent when 0"},
    {"nccl.unknown_functions", kInteger, kEnvironment, "", "functions of NCCL that ddbench does not know"},
    {"nccl.unknown_kernels", kList, kEnvironment, "",
     "kernels of NCCL that ddbench does not know: they count as communication"},
    {"nccl.unpaired", kInteger, kEnvironment, "", "events of NCCL without their beginning or end"},
    {"nccl.untimed", kInteger, kEnvironment, "", "collectives of NCCL whose times are not known"},
    {"nccl.with_phases", kInteger, kThisRun, "",
     "collectives of symmetric kernels whose phases NCCL reported; absent when 0"},
    {"nccl.*", kText, kEnvironment, "", "how NCCL did a kind of collective: algorithm, protocol, transport"},
    {"probe_cost.drain_ns", kReal, kThisRun, "ns", "processor time of the probes' thread for each step",
     "{:.6g}"},
    {"probe_cost.hooks_ns", kReal, kThisRun, "ns",
     "what the hooks inside of a program take in a step, over its threads, as they measure themselves", "{:.6g}"},
    {"probe_cost.push_ns", kReal, kThisRun, "ns", "what recording a span takes", "{:.6g}"},
    {"probe_cost.readings_ns", kReal, kThisRun, "ns", "what the readings of run-queue delay take in a step",
     "{:.6g}"},
    {"probe_cost.spans", kReal, kThisRun, "", "spans of a step", "{:.6g}"},
    // Memory
    {"gpu.*.memory_bytes", kReal, kEnvironment, "B", "memory of a GPU, by NVML", "{:.0f}"},
    {"gpu.*.peak_memory_bytes", kReal, kThisRun, "B", "most memory of a GPU that was used at once, by all of its users, by NVML",
     "{:.0f}"},
    {"memory.activations_bytes", kInteger, kThisRun, "B",
     "of memory.device_peak_bytes, and so the following: activations and their gradients"},
    {"memory.batches_bytes", kInteger, kThisRun, "B", "batches"},
    {"memory.buckets_bytes", kInteger, kThisRun, "B", "what gradients and parameters are exchanged through"},
    {"memory.device_peak_bytes", kInteger, kThisRun, "B",
     "most memory that the allocator of a rank's device had given out at once, of the rank that had most"},
    {"memory.device_peak_of_ranks", kList, kThisRun, "B", "the same by rank; one value where all ranks have as much"},
    {"memory.device_reserved_bytes", kInteger, kThisRun, "B",
     "most memory that the driver kept for a rank's allocator; absent on CPUs"},
    {"memory.gradients_bytes", kInteger, kThisRun, "B", "gradients, with the sums of micro-batches"},
    {"memory.offloaded_bytes", kInteger, kThisRun, "B",
     "what the optimizer kept in the host's memory beside the device's, of the rank that had most of that; absent without offload"},
    {"memory.optimizer_bytes", kInteger, kThisRun, "B", "the optimizer's state"},
    {"memory.other_bytes", kInteger, kThisRun, "B", "all else"},
    {"memory.parameters_bytes", kInteger, kThisRun, "B", "parameters, with their copies in 16 bits"},
    {"memory.predicted_bytes", kInteger, kWork, "B",
     "memory.device_peak_bytes by the sizes of tensors, as `ddbench fit` has it: without workspace"},
    {"memory.workspace_bytes", kInteger, kThisRun, "B", "workspace of operators"},
    // Run
    {"checkpoint.directory", kText, kEnvironment, "", "where the run writes its checkpoints"},
    {"ddbench.commit", kText, kThisRun, "", "commit that ddbench was built from; with \"+\" where files differed from it"},
    {"ddbench.version", kText, kEnvironment, "", "version of ddbench that made the run"},
    {"device.gemm_peak_tflops", kReal, kEnvironment, "TFLOP/s",
     "matrix products in the run's precision on a core of rank 0, when the run began", "{:.6g}"},
    {"gloo.trylock_patch", kSwitch, kEnvironment, "", "whether Gloo's locks were made patient"},
    {"goodput", kReal, kEnvironment, "1", "share of the time from first to last run in steps that count",
     "{:.4f}"},
    {"goodput.between_s", kReal, kEnvironment, "s", "time between the runs that continue each other",
     "{:.6f}"},
    {"goodput.restarts", kInteger, kEnvironment, "", "times that the training was continued"},
    {"goodput.total_s", kReal, kEnvironment, "s", "time of all runs that continue each other", "{:.6f}"},
    {"goodput.useful_s", kReal, kEnvironment, "s", "of that, in steps that count", "{:.6f}"},
    {"gradients.narrow_ns_per_mib", kReal, kThisRun, "ns/MiB",
     "narrowing gradients to half precision (-S hook=fp16) beyond averaging them, on a core of rank 0",
     "{:.6g}"},
    {"gradients.widen_ns_per_mib", kReal, kThisRun, "ns/MiB",
     "widening gradients from half precision, on a core of rank 0", "{:.6g}"},
    {"image", kText, kEnvironment, "", "image of the container, as the environment names it"},
    {"import.file", kText, kThisRun, "", "where an imported run comes from"},
    {"import.folder", kText, kThisRun, "", "folder whose spools were imported"},
    {"import.line", kInteger, kThisRun, "", "line of the imported file"},
    {"import.mean_of_steps", kInteger, kThisRun, "", "steps that a row of an imported log is the mean of, if several"},
    {"import.sample_unit", kText, kThisRun, "", "what an imported run calls a sample"},
    {"import.samples_per_s", kReal, kThisRun, "1/s", "the throughput of an imported run whose step time is not known"},
    {"import.samples_per_step", kReal, kThisRun, "", "samples of a step of an imported run, by its step time and its throughput", "{:.12g}"},
    {"import.step_time", kText, kThisRun, "",
     "\"not said\" where an imported run has a throughput and neither the batch nor the time of a step"},
    {"job.id", kText, kThisRun, "", "scheduler and number of the job that the run is part of"},
    {"job.nodes", kText, kThisRun, "", "nodes of the job, as its scheduler writes them"},
    {"job.partition", kText, kThisRun, "", "partition or queue of the job"},
    {"job.restarts", kInteger, kThisRun, "", "times that the scheduler had started the job again"},
    {"launched_from.fingerprint", kText, kEnvironment, "", "fingerprint of the launcher's machine"},
    {"launcher.span_bytes", kInteger, kThisRun, "B", "bytes of spans that the launcher took in"},
    {"network.dropped_packets", kInteger, kThisRun, "", "packets that shaped links dropped"},
    {"network.link_qdisc", kText, kNetwork, "", "how the kernel shapes a link"},
    {"network.link_rate", kText, kNetwork, "", "rate to which links were shaped"},
    {"network.nodes", kText, kNetwork, "", "what stood for the nodes of an emulated network"},
    {"network.sent_bytes", kInteger, kThisRun, "B", "bytes that all nodes of an emulated network sent"},
    {"network.tcp_congestion_control", kText, kNetwork, "", "congestion control between nodes"},
    {"network.user_namespace", kText, kNetwork, "", "\"yes\" where nodes live in a user namespace"},
    {"note.*", kText, kThisRun, "", "what the launcher noted"},
    {"owner.heartbeat_wall_ns", kInteger, kThisRun, "ns",
     "wall clock of the last sign of life of the ddbench that drives the run; only while it is running"},
    {"owner.user", kText, kThisRun, "", "who made the run"},
    {"program.backward_ns", kInteger, kThisRun, "ns", "what its calls of backward take of a step"},
    {"program.confidence", kReal, kThisRun, "1",
     "how sure the steps are that were found by their pattern", "{:.3f}"},
    {"program.data_ns", kInteger, kThisRun, "ns", "what its DataLoader takes of a step"},
    {"program.data_of_ranks", kText, kThisRun, "",
     "whether the ranks of a program train on the same samples: \"different\", \"the same on ranks 0-3\", \"not known: WHY\""},
    {"program.files", kList, kThisRun, "",
     "files of a program, with a hash of their content: compared as the field script"},
    {"program.folder", kText, kThisRun, "", "where the files of a program are"},
    {"program.forward_ns", kInteger, kThisRun, "ns",
     "from the end of data loading to backward, of a step of a program"},
    {"program.host_backward_ns", kInteger, kThisRun, "ns", "of a step of a program, what its calls of backward take outside of operators and collectives"},
    {"program.host_elsewhere_ns", kInteger, kThisRun, "ns", "the same outside of its loader, forward, backward and optimizer"},
    {"program.host_forward_ns", kInteger, kThisRun, "ns", "the same in forward"},
    {"program.host_optimizer_ns", kInteger, kThisRun, "ns", "the same in calls of the optimizer"},
    {"program.learning_rate", kReal, kThisRun, "1",
     "the learning rate that a program applied in its last step: of its optimizer's first group, or as it reported it"},
    {"program.optimizer_ns", kInteger, kThisRun, "ns", "what its calls of the optimizer take of a step"},
    {"program.order_repeats", kText, kThisRun, "",
     "ranks of a program whose sampler shuffles and gave the same order in each pass; absent where none was seen"},
    {"program.outside_steps_ns", kInteger, kThisRun, "ns", "time of a program outside of its steps"},
    {"program.pattern", kText, kEnvironment, "", "what repeats itself in the steps of a program"},
    {"program.samples_per_step", kReal, kEnvironment, "",
     "samples that the DataLoaders of all ranks of a program gave for a step", "{:.6g}"},
    {"program.shared_gpus", kText, kEnvironment, "", "ranks of a program that use one GPU; absent where none were seen"},
    {"program.steps", kInteger, kEnvironment, "", "steps of a program"},
    {"program.steps_from", kText, kEnvironment, "", "how the steps of a program were found"},
    {"resumed.at_step", kInteger, kEnvironment, "", "steps that were done when the run began"},
    {"resumed.from", kText, kEnvironment, "", "the run that this one continues"},
    {"steps.done", kInteger, kThisRun, "", "with --steps auto: steps that were done, warm-up included"},
    {"steps.ended_by", kText, kThisRun, "", "what ended a run with --steps auto: \"margin\" or \"max-time\""},
    {"steps.waits_for_launcher", kInteger, kThisRun, "",
     "times that a rank waited within a step for the launcher to name the last one; absent when 0"},
    {"steps.waits_for_launcher_ns", kInteger, kThisRun, "ns",
     "how long these waits were in all; absent when 0"},
    {"strategy.sent_bytes_per_step", kReal, kEnvironment, "B", "what a rank sends in a step by theory",
     "{:.0f}"},
    {"strategy.traffic", kText, kEnvironment, "", "formula of strategy.sent_bytes_per_step"},
    {"training.cuda_graph", kText, kEnvironment, "",
     "what became of the CUDA graph: \"captured from step 4\", \"off: WHY\""},
    {"training.loss_scale", kReal, kEnvironment, "", "loss scale of the last step", "{:g}"},
    {"training.skipped_updates", kInteger, kEnvironment, "",
     "steps, warm-up included, whose gradients were not finite, so that nothing was updated; absent when 0"},
    {"transport", kText, kNetwork, "", "transport that the collectives used"},
    {"workload.flops_per_sample", kReal, kWork, "FLOP",
     "FLOPs of the model for one sample, forward and backward"},
    {"workload.gradient_bytes", kList, kWork, "B",
     "each gradient, in the reverse order of the parameters, in which buckets are filled, or nearly so; of programs with DDP at most 4,096"},
    {"workload.hardware_flops_per_sample", kReal, kWork, "FLOP",
     "the same, including recomputation in backward"},
});

/// The entry of a stored key; null where there is none.
const FactSpec* find_fact(std::string_view key) noexcept;

/// "integer", "real", "text", "switch", "list", "estimate".
std::string_view to_string(FactType type) noexcept;

}  // namespace ddbench
