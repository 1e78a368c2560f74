#pragma once

#include "analyzer/import/nsys/export_file.h"
#include "analyzer/import/trace/trace_info.h"

namespace ddbench::imports {

/// What an export says of its machine (host, GPUs) and of when its times begin; not of a rank.
TraceInfo machine_of(const NsysExport& from);

}  // namespace ddbench::imports
