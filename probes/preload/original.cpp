#include "probes/preload/original.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace ddbench::inject {
namespace {

const void* base_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Of the object's file and of what it depends on; null where that is ours. An object that has it stays
/// loaded.
void* find_in(const char* file, const char* name) {
  void* const object = ::dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const found = ::dlsym(object, name);
  if (found != nullptr && base_of(found) != base_of(reinterpret_cast<void*>(&find_in))) return found;
  ::dlclose(object);
  return nullptr;
}

void* find_for(const void* caller, const char* name) {
  Dl_info info{};
  if (::dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return find_in(info.dli_fname, name);
}

// Listed first: while it lists, the loader's lock is held that opening takes.
std::vector<std::string> loaded_objects() {
  std::vector<std::string> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        static_cast<std::vector<std::string>*>(data)->emplace_back(object->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

void* find_anywhere(const char* name) {
  for (const std::string& file : loaded_objects()) {
    void* const found = file.empty() ? nullptr : find_in(file.c_str(), name);  // without a name: the program
    if (found != nullptr) return found;
  }
  return nullptr;
}

struct KnownCall {
  void* own = nullptr;
  const void* caller = nullptr;
  void* function = nullptr;
};

// In sets, as a processor's cache: two places of one set do not displace each other at each call. Small: each thread of the program has it,
// on its stack's memory (static thread-local storage).
constexpr std::size_t kSets = 16;
constexpr std::size_t kWays = 4;

struct KnownCalls {
  std::array<std::array<KnownCall, kWays>, kSets> sets{};
  std::array<std::uint8_t, kSets> next{};  // to be displaced
};
thread_local KnownCalls known_calls;

std::size_t set_of(const void* own, const void* caller) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  const auto both = (reinterpret_cast<std::uint64_t>(own) >> 2) ^ (reinterpret_cast<std::uint64_t>(caller) << 20U);
  return (both * kGolden) >> 60U;
}
static_assert(kSets == std::size_t{1} << 4U);

}  // namespace

void* find_once(void* own, const void* caller) {
  const std::size_t number = set_of(own, caller);
  auto& set = known_calls.sets[number];
  for (const KnownCall& call : set) {
    if (call.own == own && call.caller == caller) return call.function;
  }
  void* const function = find_function(name_of_function(own), caller);
  set[known_calls.next[number]++ % kWays] = {own, caller, function};
  return function;
}

void* find_function_if_any(const char* name, const void* caller) {
  if (void* const next = ::dlsym(RTLD_NEXT, name)) return next;
  void* const callers = caller != nullptr ? find_for(caller, name) : nullptr;
  return callers != nullptr ? callers : find_anywhere(name);
}

void* find_function(const char* name, const void* caller) {
  if (void* const found = find_function_if_any(name, caller)) return found;
  std::fprintf(stderr, "ddbench: the program calls %s, but no library that it loaded has it\n", name);
  std::abort();
}

const char* name_of_function(void* own) {
  Dl_info info{};
  if (::dladdr(own, &info) != 0 && info.dli_sname != nullptr) return info.dli_sname;
  std::fputs("ddbench: a function that it stands before has no name: was its library stripped?\n", stderr);
  std::abort();
}

void* find_next(void* own) {
  return ::dlsym(RTLD_NEXT, name_of_function(own));
}

}  // namespace ddbench::inject
