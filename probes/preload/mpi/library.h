#pragma once

#include <cstdint>
#include <string>

/// The MPI of the program. ddbench is built against none: a handle (a communicator, a datatype, a request) is
/// an address in Open MPI and an int in MPICH and those that share its ABI (Intel MPI, MVAPICH, Cray MPICH).
namespace ddbench::inject::mpi {

struct OpaqueHandle;
/// A handle as the word that a C function gets; the upper half of an int's word has no meaning (see
/// same_word()).
using Handle = OpaqueHandle*;

enum class Abi : std::uint8_t {
  kAddresses,  ///< Open MPI
  kNumbers,    ///< MPICH
  kUnknown,    ///< nothing can be recorded, because no question can be asked about a handle
};

struct Library {
  Abi abi = Abi::kUnknown;
  std::string name;  ///< "Open MPI v4.1.4"; empty if it does not state one
};

/// Found on the first call, in the library that has PMPI_Wait. The program must have called a function of
/// MPI.
const Library& library();
/// Whether its handles are known. Where they are not, that is reported for the run, once.
bool knows_library() noexcept;

/// A function of MPI that answers with a number.
using Question = int(Handle, int*);
Question* find_question(const char* function);
int asked(Question* question, Handle about);

/// The handle without what stands beside an int in its word: two are equal if they are one handle.
Handle same_word(Handle handle);
/// MPI_COMM_WORLD.
Handle world();
/// The `index`-th of a C array of handles.
Handle handle_at(const void* handles, int index);
/// Fortran's handles are ints in every MPI. `converter`: "PMPI_Comm_f2c"; MPICH needs none.
Handle handle_of_fortran(int handle, const char* converter);

}  // namespace ddbench::inject::mpi
