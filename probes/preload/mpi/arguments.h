#pragma once

#include <cstdint>

#include "probes/preload/mpi/library.h"

/// Arguments of MPI's functions as a language passes them, convertible to what describes a collective
/// (collectives.h).
namespace ddbench::inject::mpi {

/// Counts of a v-function: ints, or 64 bits wide in the functions for large counts.
struct Counts {
  const void* values;
  bool is_wide = false;
  Counts(const int* counts) : values(counts) {}                          // NOLINT: converts
  Counts(const std::int64_t* counts) : values(counts), is_wide(true) {}  // NOLINT: converts
  std::int64_t at(int index) const {
    return is_wide ? static_cast<const std::int64_t*>(values)[index] : static_cast<const int*>(values)[index];
  }
};

/// Datatypes of a w-function.
struct Types {
  const void* values;
  bool is_fortran = false;
  Types(const void* types) : values(types) {}                   // NOLINT: converts
  Types(const int* types) : values(types), is_fortran(true) {}  // NOLINT: converts
  Handle at(int index) const {
    return is_fortran ? handle_of_fortran(static_cast<const int*>(values)[index], "PMPI_Type_f2c")
                      : handle_at(values, index);
  }
};

struct InC {
  using Count = int;
  using CountList = const int*;
  using TypeList = const void*;
  using Root = int;
  using Type = Handle;
  using Communicator = Handle;
  using Operation = Handle;
};

/// The functions of MPI 4 for large counts, MPI_..._c.
struct InLargeC : InC {
  using Count = std::int64_t;
  using CountList = const std::int64_t*;
};

/// Fortran passes addresses. A struct of one address is passed as that address.
struct InFortran {
  struct Count {
    const int* at;
    operator std::int64_t() const { return *at; }  // NOLINT: converts
  };
  struct Root {
    const int* at;
    operator int() const { return *at; }  // NOLINT: converts
  };
  struct Type {
    const int* at;
    operator Handle() const { return handle_of_fortran(*at, "PMPI_Type_f2c"); }  // NOLINT: converts
  };
  struct Communicator {
    const int* at;
    operator Handle() const { return handle_of_fortran(*at, "PMPI_Comm_f2c"); }  // NOLINT: converts
  };
  using CountList = const int*;
  using TypeList = const int*;
  using Operation = const int*;
};

}  // namespace ddbench::inject::mpi
