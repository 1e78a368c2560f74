// Stands before the functions of MPI that move data and are not recorded, and counts their calls. No argument
// of theirs is a floating-point number or a struct: each is passed on as the word that it is, up to the
// longest list.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "core/program/mpi_report.h"
#include "probes/preload/mpi/entry.h"
#include "probes/preload/mpi/uncovered.h"
#include "probes/preload/original.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject::mpi {
namespace {

// clang-format off
#define DDBENCH_UNCOVERED(X) \
  X(Send, send) X(Ssend, ssend) X(Bsend, bsend) X(Rsend, rsend) X(Recv, recv) X(Mrecv, mrecv) X(Sendrecv, sendrecv) \
  X(Sendrecv_replace, sendrecv_replace) X(Isend, isend) X(Issend, issend) X(Ibsend, ibsend) X(Irsend, irsend) X(Irecv, irecv) \
  X(Imrecv, imrecv) X(Isendrecv, isendrecv) X(Isendrecv_replace, isendrecv_replace) X(Send_init, send_init) X(Ssend_init, ssend_init) \
  X(Bsend_init, bsend_init) X(Rsend_init, rsend_init) X(Recv_init, recv_init) \
  X(Psend_init, psend_init) X(Precv_init, precv_init) X(Pready, pready) X(Pready_range, pready_range) X(Pready_list, pready_list) \
  X(Put, put) X(Get, get) X(Accumulate, accumulate) X(Get_accumulate, get_accumulate) X(Fetch_and_op, fetch_and_op) \
  X(Compare_and_swap, compare_and_swap) X(Rput, rput) X(Rget, rget) X(Raccumulate, raccumulate) X(Rget_accumulate, rget_accumulate) \
  X(Win_fence, win_fence) X(Win_complete, win_complete) X(Win_wait, win_wait) X(Win_unlock, win_unlock) X(Win_unlock_all, win_unlock_all) \
  X(Win_flush, win_flush) X(Win_flush_all, win_flush_all) \
  X(File_read, file_read) X(File_read_all, file_read_all) X(File_read_at, file_read_at) X(File_read_at_all, file_read_at_all) \
  X(File_read_shared, file_read_shared) X(File_read_ordered, file_read_ordered) X(File_read_all_begin, file_read_all_begin) \
  X(File_read_at_all_begin, file_read_at_all_begin) X(File_read_ordered_begin, file_read_ordered_begin) X(File_iread, file_iread) \
  X(File_iread_all, file_iread_all) X(File_iread_at, file_iread_at) X(File_iread_at_all, file_iread_at_all) \
  X(File_iread_shared, file_iread_shared) \
  X(File_write, file_write) X(File_write_all, file_write_all) X(File_write_at, file_write_at) X(File_write_at_all, file_write_at_all) \
  X(File_write_shared, file_write_shared) X(File_write_ordered, file_write_ordered) X(File_write_all_begin, file_write_all_begin) \
  X(File_write_at_all_begin, file_write_at_all_begin) X(File_write_ordered_begin, file_write_ordered_begin) X(File_iwrite, file_iwrite) \
  X(File_iwrite_all, file_iwrite_all) X(File_iwrite_at, file_iwrite_at) X(File_iwrite_at_all, file_iwrite_at_all) \
  X(File_iwrite_shared, file_iwrite_shared)
// clang-format on

enum Function : std::size_t {
#define DDBENCH_NUMBER(name, lower) k##name,
  DDBENCH_UNCOVERED(DDBENCH_NUMBER)
#undef DDBENCH_NUMBER
      kFunctions
};

constexpr std::array<const char*, kFunctions> kNames = {
#define DDBENCH_NAME(name, lower) "MPI_" #name,
    DDBENCH_UNCOVERED(DDBENCH_NAME)
#undef DDBENCH_NAME
};

constinit std::array<std::atomic<std::uint64_t>, kFunctions> calls{};

void report(std::size_t function, std::uint64_t count) noexcept try {
  const RecorderAccess access;
  if (access.get() == nullptr) return;
  access.get()->record_scalar(std::string(kUncoveredMpiCalls) + kNames[function], 0,
                              static_cast<double>(count));
} catch (...) {  // without memory: it stays unknown
}

// At powers of two at once: a program that is killed does not end its use of MPI.
void count(std::size_t function) noexcept {
  const std::uint64_t counted = calls[function].fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(counted)) report(function, counted);
}

using Word = std::intptr_t;

}  // namespace

void report_uncovered() noexcept {
  for (std::size_t function = 0; function < calls.size(); ++function) {
    const std::uint64_t counted = calls[function].load();
    if (counted > 0) report(function, counted);
  }
}

#define DDBENCH_COUNTED(function, number)                                                               \
  Word function(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k, \
                Word l, Word m, Word n) {                                                               \
    const Entry entry;                                                                                  \
    if (entry.is_outermost()) count(number);                                                            \
    return original<&function>()(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                             \
  }
#define DDBENCH_ALL_OF(name, lower)        \
  DDBENCH_COUNTED(MPI_##name, k##name)     \
  DDBENCH_COUNTED(MPI_##name##_c, k##name) \
  DDBENCH_COUNTED(mpi_##lower##_, k##name) \
  DDBENCH_COUNTED(ompi_##lower##_f, k##name)

extern "C" {

DDBENCH_UNCOVERED(DDBENCH_ALL_OF)

}  // extern "C"

}  // namespace ddbench::inject::mpi

#undef DDBENCH_UNCOVERED
#undef DDBENCH_COUNTED
#undef DDBENCH_ALL_OF
