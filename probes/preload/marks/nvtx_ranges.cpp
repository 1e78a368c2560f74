// Ranges that programs mark for NVIDIA's tools: those of steps are steps. A program's NVTX (version 3, headers only) opens the
// library in NVTX_INJECTION64_PATH at its first call and has it put functions into its tables. On machines with GPUs that is CUPTI's
// (probes/cupti). Numbers and layouts below are of NVTX's public headers (nvtxTypes.h, nvToolsExt.h), which keep them.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "probes/preload/marks/step_ranges.h"

namespace {

using ddbench::inject::enter_range;
using ddbench::inject::leave_range;

using Function = void (*)();
using FunctionTable = Function**;  // of pointers to pointers, which are NVTX's own

struct ExportedCallbacks {
  std::size_t struct_size;
  int (*module_functions)(std::uint32_t module, FunctionTable* table, unsigned int* size);
};
using ExportTable = const void* (*)(std::uint32_t table);

constexpr std::uint32_t kCallbacks = 1;
enum Module : std::uint32_t { kCore = 1, kCore2 = 5 };
enum CoreFunction : unsigned { kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11 };
enum Core2Function : unsigned { kDomainRangePushEx = 4, kDomainRangePop = 5, kRegisterStringA = 10 };
enum MessageType : std::int32_t { kAscii = 1, kRegistered = 3 };

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t colour_type;
  std::uint32_t colour;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const char* message;  // a registered one is what register_string() gave
};

std::string_view message_of(const Attributes* attributes) noexcept {
  const bool has_text = attributes != nullptr && attributes->size >= sizeof(Attributes) && attributes->message != nullptr &&
                        (attributes->message_type == kAscii || attributes->message_type == kRegistered);
  return has_text ? attributes->message : "";
}

// They return the level of the range, which no caller uses; a negative one would be an error.
int push_ex(const Attributes* attributes) noexcept {
  enter_range(nullptr, message_of(attributes));
  return 0;
}
int push_text(const char* text) noexcept {
  enter_range(nullptr, text != nullptr ? text : "");
  return 0;
}
int push_wide(const wchar_t*) noexcept {
  enter_range(nullptr, "");
  return 0;
}
int pop() noexcept {
  leave_range(nullptr);
  return 0;
}
int push_in_domain(const void* domain, const Attributes* attributes) noexcept {
  enter_range(domain, message_of(attributes));
  return 0;
}
int pop_in_domain(const void* domain) noexcept {
  leave_range(domain);
  return 0;
}
// Registered once and used as long as the process lives.
const char* register_string(const void*, const char* text) noexcept {
  return text != nullptr ? ::strdup(text) : nullptr;
}

template <typename F>
void put(FunctionTable table, unsigned size, unsigned place, F* function) noexcept {
  if (place < size && table[place] != nullptr) *table[place] = reinterpret_cast<Function>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(ExportTable export_table) {
  const auto* const callbacks = static_cast<const ExportedCallbacks*>(export_table(kCallbacks));
  FunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr || callbacks->struct_size < sizeof(ExportedCallbacks)) return 0;
  if (callbacks->module_functions(kCore, &table, &size) != 0 && table != nullptr) {
    put(table, size, kRangePushEx, push_ex);
    put(table, size, kRangePushA, push_text);
    put(table, size, kRangePushW, push_wide);
    put(table, size, kRangePop, pop);
  }
  if (callbacks->module_functions(kCore2, &table, &size) != 0 && table != nullptr) {
    put(table, size, kDomainRangePushEx, push_in_domain);
    put(table, size, kDomainRangePop, pop_in_domain);
    put(table, size, kRegisterStringA, register_string);
  }
  return 1;
}
