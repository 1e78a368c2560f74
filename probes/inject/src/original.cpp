#include "original.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ddbench::inject {

void* find_function(const char* name, std::initializer_list<const char*> libraries) {
  if (void* const next = ::dlsym(RTLD_NEXT, name)) return next;
  for (const char* library : libraries) {
    // Not loaded anew, and never closed: the program's own handle keeps it.
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const found = ::dlsym(handle, name)) return found;
  }
  std::fprintf(stderr, "ddbench: the program calls %s, but no library that it loaded has it\n", name);
  std::abort();
}

void* find_original(void* own, std::initializer_list<const char*> libraries) {
  Dl_info info{};
  if (::dladdr(own, &info) == 0 || info.dli_sname == nullptr) {
    std::fputs("ddbench: a function that it stands before has no name: was its library stripped?\n", stderr);
    std::abort();
  }
  return find_function(info.dli_sname, libraries);
}

}  // namespace ddbench::inject
