#include "harness/collective/gloo/gloo_trylock_patch.h"

#include <gloo/transport/tcp/device.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <span>

namespace ddbench::collective::gloo_backend {
namespace {

constexpr long kPatienceNs = 1'000'000;
constexpr long kNsPerSecond = 1'000'000'000;

int lock_with_patience(pthread_mutex_t* mutex) {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kPatienceNs;
  if (until.tv_nsec >= kNsPerSecond) {
    until.tv_nsec -= kNsPerSecond;
    ++until.tv_sec;
  }
  return ::pthread_mutex_timedlock(mutex, &until) == 0 ? 0 : EBUSY;
}

/// An object in memory, as far as replacing one of its references needs it.
struct LoadedObject {
  ElfW(Addr) base = 0;
  std::span<const ElfW(Phdr)> headers;

  const ElfW(Phdr) * header(std::uint32_t type) const {
    for (const ElfW(Phdr) & header : headers) {
      if (header.p_type == type) return &header;
    }
    return nullptr;
  }
  bool contains(ElfW(Addr) address) const {
    for (const ElfW(Phdr) & header : headers) {
      if (header.p_type == PT_LOAD && covers(header, address)) return true;
    }
    return false;
  }
  bool covers(const ElfW(Phdr) & header, ElfW(Addr) address) const {
    return address - base - header.p_vaddr < header.p_memsz;
  }
};

/// A page that the linker made read-only after relocation is writable only for the moment.
void replace(const LoadedObject& object, ElfW(Addr) slot, ElfW(Addr) value) {
  const ElfW(Phdr)* const sealed = object.header(PT_GNU_RELRO);
  const bool is_sealed = sealed != nullptr && object.covers(*sealed, slot);
  const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(slot & ~(page_size - 1));
  if (is_sealed && ::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  std::atomic_ref(*reinterpret_cast<ElfW(Addr)*>(slot)).store(value);
  if (is_sealed) ::mprotect(page, page_size, PROT_READ);
}

void replace_function(const LoadedObject& object, const char* name, ElfW(Addr) value) {
  const ElfW(Phdr)* const dynamic = object.header(PT_DYNAMIC);
  if (dynamic == nullptr) return;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* calls = nullptr;  // references through the procedure linkage table
  std::size_t calls_bytes = 0;
  for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.base + dynamic->p_vaddr);
       entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) calls_bytes = entry->d_un.d_val;
  }
  if (symbols == nullptr || names == nullptr || calls == nullptr) return;
  for (const ElfW(Rela) & call : std::span(calls, calls_bytes / sizeof(ElfW(Rela)))) {
    const char* const called = names + symbols[ELF64_R_SYM(call.r_info)].st_name;
    if (std::strcmp(called, name) == 0) replace(object, object.base + call.r_offset, value);
  }
}

int replace_where_gloo_is(dl_phdr_info* info, std::size_t, void*) {
  const LoadedObject object{info->dlpi_addr, {info->dlpi_phdr, info->dlpi_phnum}};
  if (!object.contains(reinterpret_cast<ElfW(Addr)>(&::gloo::transport::tcp::CreateDevice))) return 0;
  replace_function(object, "pthread_mutex_trylock", reinterpret_cast<ElfW(Addr)>(&lock_with_patience));
  return 1;
}

}  // namespace

void make_io_threads_wait_for_locks() noexcept {
  static_assert(sizeof(ElfW(Addr)) == 8, "relocations are read as those of 64-bit machines");
  [[maybe_unused]] static const int once = ::dl_iterate_phdr(replace_where_gloo_is, nullptr);
}

}  // namespace ddbench::collective::gloo_backend
