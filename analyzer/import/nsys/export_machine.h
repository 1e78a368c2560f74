#pragma once

#include "analyzer/import/nsys/export_file.h"
#include "analyzer/import/trace/trace_info.h"

namespace ddbench::imports {

/// The machine (host, GPUs) and the start of the time base as an export states them; nothing about a rank.
TraceInfo machine_of(const NsysExport& from);

}  // namespace ddbench::imports
