#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/import/trace/rank_trace.h"

namespace ddbench::imports {

/// The traces of one job, by rank.
struct TraceJob {
  std::vector<RankTrace> traces;    ///< ascending by rank
  std::vector<int> ranks;           ///< of each trace
  int world_size = 1;               ///< of the job, also where traces of some ranks are missing
  bool world_size_is_known = false;  ///< by a trace; else it is the number of traces
  std::vector<std::string> notes;   ///< notes for the user: what was guessed, which ranks are missing
};

/// Puts traces together that are of one job. A trace that does not say its rank has that of its path; a single one is rank
/// 0. Throws Error{kBadInput} that names the files where two are of one rank, a rank is not known, or they are not of one
/// job: other numbers of ranks, backends, versions of NCCL or sizes of process groups, kernels in some only, or recorded more
/// than a minute apart.
TraceJob put_together(std::vector<RankTrace> traces);

/// Keeps the marks of those steps that all ranks have. Throws Error{kBadInput} where ranks have marks and no step is on all.
void keep_common_steps(TraceJob& job);

/// Gives the collectives of each process group the keys that join them across ranks (Span::correlation): PyTorch's own
/// number where each rank has one, else their place in the order in which their rank asked for them, counted in each marked
/// step. Those before the first marked step (without marks: all) get none where ranks recorded different numbers of them. A group
/// in which ranks then disagree about a function or about an all_reduce's bytes gets no keys; notes say so. Nor do sends, receives,
/// and collectives of an unknown group get any. Interns the sizes of groups.
void number_collectives(TraceJob& job);

/// After number_collectives. Throws Error{kBadInput} where, by their clocks, traces were not recorded at the same time, and no
/// collective shows that it is the clocks that differ.
void check_joined(const TraceJob& job);

/// Subtracts the first begin of all traces from all times, so that they begin near 0. Throws Error{kBadInput} where that is
/// not enough for a span's limits.
void shift_to_begin(TraceJob& job);

}  // namespace ddbench::imports
