#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/run_case/run_case.h"
#include "harness/collective/communicator.h"
#include "harness/training/checkpoint/checkpoint.h"
#include "harness/training/step/training_monitor.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

struct TrainResult {
  double loss_first = std::numeric_limits<double>::quiet_NaN();  ///< this rank's; NaN where no step was left to train
  double loss_last = std::numeric_limits<double>::quiet_NaN();
  std::string parameter_hash = {};  ///< of all parameters' bits after the last step
  std::uint32_t steps_done = 0;  ///< with those of runs that it continued
  bool reached_target = false;   ///< and so ended after `steps_done` steps
};

/// Throws Error{kBadInput} that names what this version cannot train: an unknown precision,
/// strategy, optimizer or workload, options that the strategy or the workload does not take, and strategies
/// and optimizers that do not go together.
void check_supported(const RunCase& run_case);

/// Trains `run_case` on this rank: the whole life of a DDP worker after rendezvous. Reads top to bottom.
/// Records spans and the scalar "loss" on `recorder`; of four measured steps one is a probe-off window (is_probed): its
/// kStep span has bucket 0 instead of kNoBucket, and it has no other spans. Steps are contiguous. With
/// several ranks, one step of four has the scalars "gradient_square_local" (this rank's |g|^2 over its
/// batch_per_gpu samples) and "gradient_square_mean" (its mean over ranks is |g|^2 of the averaged gradient).
/// On a CPU, rank 0 has the scalar "gemm_peak_tflops" at its first step: what one rank could do at most; and
/// "gradients.narrow_ns_per_mib" and "gradients.widen_ns_per_mib" (HalfConversion).
/// With a target loss, rank 0 has "smoothed_loss", and training ends in the first step after the run's
/// own warm-up in which it has come down to the target; a resumed run is past that. Every `checkpoint_every` steps a checkpoint is written to
/// checkpoints.directory; its cost is the copy span "checkpoint" and the scalar "checkpoint_seconds". With
/// checkpoints.resume_from, training goes on after the steps that were done, as if it had never ended; its first steps,
/// which are cold, are a warm-up again. Throws
/// Error{kBadInput} as check_supported, Error{kRunFailed} when a collective fails or the loss is no number
/// any more.
/// On a GPU forward and backward run as captured graphs where they can (graph_policy.h), unless the case says
/// cuda_graph = "off".
/// `kernels`, where it is given and available, records what a GPU does; else spans are those of operators and
/// of calls, and NCCL's profiler, which receives the phases, may record more about collectives.
TrainResult train(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
                  TrainingMonitor& monitor, const CheckpointPlan& checkpoints = {},
                  cuda::CudaProbe* kernels = nullptr);

/// Bytes of host memory that one rank of this case needs (parameters, gradients, activations, data), for the
/// refusal before a run starts what the machine cannot hold.
std::int64_t memory_per_rank_bytes(const RunCase& run_case);

}  // namespace ddbench::ddp
