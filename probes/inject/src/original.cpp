#include "original.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ddbench::inject {

void* find_original(void* own, std::initializer_list<const char*> libraries) {
  Dl_info info{};
  if (::dladdr(own, &info) == 0 || info.dli_sname == nullptr) {
    std::fputs("ddbench: a function that it stands before has no name: was its library stripped?\n", stderr);
    std::abort();
  }
  if (void* const next = ::dlsym(RTLD_NEXT, info.dli_sname)) return next;
  for (const char* library : libraries) {
    // Not loaded anew, and never closed: the program's own handle keeps it.
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const found = ::dlsym(handle, info.dli_sname); found != nullptr && found != own) return found;
  }
  std::fprintf(stderr, "ddbench: the program calls %s, but no library that it loaded has it\n",
               info.dli_sname);
  std::abort();
}

}  // namespace ddbench::inject
