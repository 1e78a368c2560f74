// Tasks that programs mark for Intel's tools (torch.profiler.itt): those of steps are steps. A program's part of ITT opens the library
// in INTEL_LIBITTNOTIFY64 at its first call, and lets its __itt_api_init() fill the list of its functions. Layouts below are of
// ITT's public headers (ittnotify.h, ittnotify_config.h), which keep them.
#include <pthread.h>

#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "probes/preload/marks/step_ranges.h"

namespace {

struct TaskId {
  unsigned long long parts[3];
};

struct StringHandle {
  const char* name = nullptr;
  const wchar_t* wide_name = nullptr;
  int reserved = 0;
  void* reserved_pointer = nullptr;
  StringHandle* next = nullptr;
};

struct ListedFunction {
  const char* name;  // null behind the last one
  void** pointer;    // that the program calls through
  void* before_init;
  void* nothing;     // does nothing, but for what the program's part does itself
  int group;
};

/// The program does not call the collector for tasks of a domain whose flags are 0.
struct Domain {
  volatile int flags = 1;
  const char* name = nullptr;
  const wchar_t* wide_name = nullptr;
  int reserved = 0;
  void* reserved_pointer = nullptr;
  Domain* next = nullptr;
};

struct ProgramsPart {
  unsigned char magic[8];
  unsigned long version[3];
  volatile long state[3];
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** library_path;
  ListedFunction* functions;
  ProgramsPart* next;
  void* threads;
  Domain* domains;  // made before
};

/// The one of this name; they live as long as the process. The program makes none by itself once it has a library.
template <typename Named>
Named* create(const char* name) noexcept {
  static std::mutex mutex;
  static Named* made = nullptr;
  if (name == nullptr) return nullptr;
  const std::lock_guard lock(mutex);
  for (Named* known = made; known != nullptr; known = known->next) {
    if (std::string_view(known->name) == name) return known;
  }
  Named* const created = new (std::nothrow) Named;
  char* const copy = ::strdup(name);
  if (created == nullptr || copy == nullptr) return nullptr;
  created->name = copy;
  created->next = made;
  return made = created;
}

void begin_task(const void* domain, TaskId, TaskId, const StringHandle* name) noexcept {
  ddbench::inject::enter_range(domain, name != nullptr && name->name != nullptr ? name->name : "");
}

void end_task(const void* domain) noexcept {
  ddbench::inject::leave_range(domain);
}

/// What is not recorded does nothing.
void* function_for(const ListedFunction& function) noexcept {
  const std::string_view name = function.name;
  if (name == "__itt_task_begin") return reinterpret_cast<void*>(begin_task);
  if (name == "__itt_task_end") return reinterpret_cast<void*>(end_task);
  if (name == "__itt_domain_create") return reinterpret_cast<void*>(create<Domain>);
  if (name == "__itt_string_handle_create") return reinterpret_cast<void*>(create<StringHandle>);
  return function.nothing;
}

}  // namespace

extern "C" void __itt_api_init(ProgramsPart* program, int) {
  if (program == nullptr || program->functions == nullptr) return;
  for (Domain* domain = program->domains; domain != nullptr; domain = domain->next) domain->flags = 1;
  for (ListedFunction* function = program->functions; function->name != nullptr; ++function)
    *function->pointer = function_for(*function);
}
