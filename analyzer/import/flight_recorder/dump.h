#pragma once

#include <string>
#include <string_view>

#include "analyzer/diagnose/hang/flight.h"

namespace ddbench::imports {

using analyzer::FlightDump;
using analyzer::GroupProgress;
using analyzer::RecordedGroup;
using analyzer::RecordedOperation;

/// Reads a dump of PyTorch's Flight Recorder (TORCH_NCCL_DUMP_ON_TIMEOUT), versions 2.x, a pickle or JSON. Throws
/// Error{kBadInput} that names `origin` and what is wrong.
FlightDump read_flight_dump(std::string_view bytes, const std::string& origin);

}  // namespace ddbench::imports
