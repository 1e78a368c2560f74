#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddbench {

/// Interns names; ids count up from 0 in order of first use. Not thread-safe: intern before the timed region.
class NameTable {
 public:
  std::uint32_t intern(std::string_view name);
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

/// How many ranks a communicator has, as one of them reports it.
struct CommunicatorSize {
  std::uint16_t communicator = 0;  ///< as in collective_key()
  int ranks = 0;                   ///< 1 or more
  friend bool operator==(const CommunicatorSize&, const CommunicatorSize&) = default;
};

/// The name that a rank interns to report it, once for each communicator that it uses: "communicator 7: 4 ranks". A span
/// has no room for the size, and a name outlives the process in its spool.
std::string communicator_size_name(const CommunicatorSize& size);
/// Nothing where `name` is another name, or one with numbers that cannot be.
std::optional<CommunicatorSize> parse_communicator_size(std::string_view name) noexcept;

}  // namespace ddbench
