#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {
namespace {

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kStrong: return "\x1b[1m";
    case Tone::kFaint: return "\x1b[2m";
    case Tone::kGood: return "\x1b[32m";
    case Tone::kWarning: return "\x1b[33m";
    case Tone::kBad: return "\x1b[31m";
    case Tone::kAlarm: return "\x1b[1;37;41m";
  }
  return "";
}

}  // namespace

std::string Paint::operator()(Tone tone, std::string_view text) const {
  if (!color_ || tone == Tone::kPlain || text.empty()) return std::string(text);
  return std::string(code_of(tone)) + std::string(text) + "\x1b[0m";
}

}  // namespace ddbench::reports
