#include "analyzer/store/rows/run_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "core/clock.h"
#include "core/error.h"
#include "core/run_case/records.h"

namespace ddbench::store {

RunId new_run_id() {
  const std::time_t seconds = wall_ns() / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::random_device random;
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}-{:08x}", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, random());
}

bool is_run_id(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 64;
  const auto is_alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !text.empty() && text.size() <= kLongest && is_alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

void check_run_id(std::string_view text) {
  if (is_run_id(text)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("\"{}\" is not a run id, which looks like 20261121T001905-3f9a1c2b", text));
}

}  // namespace ddbench::store
