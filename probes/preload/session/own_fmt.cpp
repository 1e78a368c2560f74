// The parts of fmt's library that ddbench's code calls, for shared objects that are loaded into user programs
// (ddbench_self_contained in cmake/DdbenchTarget.cmake): distributions have libfmt only as a shared library. Taking an address emits
// the function. A part that a version of fmt has under another name comes from its shared library.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

[[gnu::used]] static constexpr std::string (*kFormat)(fmt::string_view, fmt::format_args) = &fmt::vformat;
#if FMT_VERSION < 110000
[[gnu::used]] static constexpr auto kError = &fmt::detail::throw_format_error;
#else
[[gnu::used]] static constexpr auto kError = &fmt::report_error;
#endif
#if FMT_VERSION >= 90000
[[gnu::used]] static constexpr bool (*kPrintable)(std::uint32_t) = &fmt::detail::is_printable;
#endif
