#include "probes/preload/mpi/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/program/mpi_report.h"
#include "probes/preload/original.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject::mpi {
namespace {

/// The first words of what MPI_Get_library_version reports: "Open MPI v4.1.4", "MPICH 4.0.2".
std::string reported_name() {
  using Version = int(char*, int*);
  void* const found = find_function_if_any("PMPI_Get_library_version");
  if (found == nullptr) return {};
  std::vector<char> text(16'384);  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING is the longest: 8192
  int length = 0;
  reinterpret_cast<Version*>(found)(text.data(), &length);
  text.back() = '\0';
  std::string name(text.data(), std::strcspn(text.data(), ",\n"));
  if (const std::size_t label = name.find(" Version:"); label != std::string::npos)
    name.erase(label, std::strlen(" Version:"));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

bool is_named_like_mpich(std::string_view name) {
  for (const std::string_view family : {"MPICH", "MVAPICH", "Intel(R) MPI"}) {
    if (name.find(family) != std::string_view::npos) return true;
  }
  return false;
}

Library find_library() {
  Library found;
  found.name = reported_name();
  Dl_info file{};
  if (::dladdr(find_function("PMPI_Wait"), &file) == 0 || file.dli_fname == nullptr) return found;
  void* const object = ::dlopen(file.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  const std::string_view path(file.dli_fname);
  if (object != nullptr && ::dlsym(object, "ompi_mpi_comm_world") != nullptr) {  // it alone has this object
    found.abi = Abi::kAddresses;
  } else if (path.find("libmpi_abi") != std::string_view::npos) {
    found.abi = Abi::kUnknown;  // MPICH's library of that name has the ABI of MPI 5
  } else if (is_named_like_mpich(found.name)) {
    found.abi = Abi::kNumbers;
  }
  return found;
}

void report_unknown(const std::string& name) noexcept try {
  const RecorderAccess access;
  if (access.get() != nullptr)
    access.get()->intern(std::string(kUnknownMpi) + (name.empty() ? "a library without a name" : name));
} catch (...) {  // without memory: it stays unknown
}

}  // namespace

const Library& library() {
  static const Library* const found =
      new Library(find_library());  // the program may use MPI until the very end
  return *found;
}

bool knows_library() noexcept {
  if (library().abi != Abi::kUnknown) [[likely]]
    return true;
  static const bool reported = (report_unknown(library().name), true);
  return !reported;
}

// The program's MPI is one, and does not go away.
Question* find_question(const char* function) {
  return reinterpret_cast<Question*>(find_function(function));
}

int asked(Question* question, Handle about) {
  int answer = 0;
  question(about, &answer);
  return answer;
}

Handle same_word(Handle handle) {
  if (library().abi != Abi::kNumbers) return handle;
  return reinterpret_cast<Handle>(reinterpret_cast<std::uintptr_t>(handle) & 0xFFFF'FFFFu);
}

// Open MPI's is an object, which may lie in the program and not in its library (a copy relocation): where the
// whole program finds it. MPICH's is a number of its ABI.
Handle world() {
  if (library().abi == Abi::kNumbers) return reinterpret_cast<Handle>(std::uintptr_t{0x44000000});
  void* const found = ::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  // Else loaded for itself alone, as Python does.
  return static_cast<Handle>(found != nullptr ? found : find_function_if_any("ompi_mpi_comm_world"));
}

Handle handle_at(const void* handles, int index) {
  if (library().abi == Abi::kAddresses) return static_cast<const Handle*>(handles)[index];
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(static_cast<const unsigned*>(handles)[index]));
}

Handle handle_of_fortran(int handle, const char* converter) {
  using Convert = Handle(int);
  if (library().abi == Abi::kAddresses) return reinterpret_cast<Convert*>(find_function(converter))(handle);
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(static_cast<unsigned>(handle)));
}

}  // namespace ddbench::inject::mpi
