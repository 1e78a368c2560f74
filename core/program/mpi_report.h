#pragma once

#include <string_view>

namespace ddbench {

/// What a process of a program over MPI reports of what is not recorded. The prefix of the name of a value,
/// the function of MPI following: how often the process called it.
inline constexpr std::string_view kUncoveredMpiCalls = "mpi.not_covered: ";
/// The prefix of an interned name, that of the MPI following: ddbench does not know its handles.
inline constexpr std::string_view kUnknownMpi = "mpi.unknown: ";

}  // namespace ddbench
