#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

struct TableOptions {
  std::map<std::string, std::string> rename;  ///< column of the file -> its name in ddbench
  std::map<std::string, std::string> units;   ///< column -> unit, for columns whose header states none
};

/// Reads a table of results row by row, a row a run (RFC 4180: quoted fields, CRLF or LF, an optional BOM;
/// separated by commas, or by semicolons or tabs where the header has no comma; lines before the header that
/// begin with # are skipped).
///
/// Columns by name, case and spaces around do not matter:
/// - fields of RunCase (workload, workload_options.KEY, precision, strategy, batch_per_gpu, link, sku, name,
/// tags.KEY, ...);
///   gpus (all of them), nodes, gpus_per_node, global_batch, accumulation, network;
///   tensor_parallel, pipeline_parallel, context_parallel (or tp, pp, cp): GPUs that share a copy of the model;
/// - one metric at least: throughput (samples/s of the whole run), throughput_per_gpu, step_time. The unit
/// stands at the
///   end of the name (step_time_ms), in brackets behind it ("step_time [ms]", "throughput (images/s)"), or in
///   options;
/// - all other columns become tags.
/// A batch is one of samples, so that with a throughput of tokens (tokens_per_second) it says nothing about steps: the step time counts,
/// or where there is none, the throughput does, the run keeps the stated batch as an option of its strategy, and a note says so.
/// Where no batch is stated (has_known_batch), a throughput does not say how long a step takes: fact import.step_time. The run then
/// has the throughput as a fact, and its stored step is one of a sample per GPU. With a step time, the samples of a step follow from both.
/// A global batch is that of all copies of the model, and batch_per_gpu that of one. Rows with a global batch are
/// strong scaling, unless the batch per GPU of rows that differ in nothing but size is the same and the global batch
/// is not: then they are weak scaling. A column "scaling" decides instead, where there is one.
/// Also what `ddbench report --format csv` writes: its cases and step times; rows of runs that failed or are invalid are left
/// out, and a note says what the file says of where its figures come from.
/// Device, backend, strategy, precision and optimizer are empty where no column has them, and the workload is "unnamed": they are not
/// known. Other fields without a column have RunCase's defaults, but the batch: 1 a GPU, which is not known. Rows of equal cases are
/// repetitions.
///
/// Throws Error{kBadInput} that names file, line and column on the first thing that is wrong.
void read_table(std::string_view text, const std::string& origin, const TableOptions& options,
                const TakeRun& take);

}  // namespace ddbench::imports
