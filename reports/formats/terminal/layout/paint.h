#pragma once

#include <string>
#include <string_view>

namespace ddbench::reports {

enum class Tone { kPlain, kStrong, kFaint, kGood, kWarning, kBad, kAlarm };

/// Colours text for a terminal, or leaves it as it is.
class Paint {
 public:
  explicit Paint(bool color) : color_(color) {}
  std::string operator()(Tone tone, std::string_view text) const;

 private:
  bool color_;
};

}  // namespace ddbench::reports
