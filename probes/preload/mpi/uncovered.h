#pragma once

/// What a program calls of MPI that moves data and is not recorded: messages between two ranks, one-sided and
/// partitioned communication, files. uncovered_calls.cpp counts the calls, for the run's notes
/// (core/program/mpi_report.h).
namespace ddbench::inject::mpi {

/// Reports all counts so far: the program ends its use of MPI.
void report_uncovered() noexcept;

}  // namespace ddbench::inject::mpi
