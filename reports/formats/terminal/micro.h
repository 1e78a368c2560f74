#pragma once

#include <string>

#include "analyzer/collectives/micro_table.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// The output of `ddbench micro`: a table for each collective with the columns of nccl-tests (which `ddbench
/// import nccl-tests` and scripts made for them read), ceilings, latency and bandwidth. These tables are
/// never shortened.
std::string micro_text(const analyzer::MicroTable& table, const TextStyle& style);

/// reports/schema/micro.schema.json
std::string micro_json(const analyzer::MicroTable& table);

}  // namespace ddbench::reports
