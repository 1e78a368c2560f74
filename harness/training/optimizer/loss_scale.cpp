#include "harness/training/optimizer/loss_scale.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::ddp {
namespace {

constexpr float kFirst = 65536;
constexpr std::uint32_t kStepsToGrow = 2000;

}  // namespace

LossScale::LossScale(const RunCase& run_case) {
  const std::string& asked = run_case.loss_scale;
  wanted_ = asked.empty() ? run_case.precision == "fp16" : asked != "none";
  dynamic_ = wanted_ && (asked.empty() || asked == "dynamic");
  if (wanted_) value_ = dynamic_ ? kFirst : number_from<float>(asked).value_or(kFirst);
}

void LossScale::after_step(bool finite) {
  if (!finite) ++skipped_;
  if (!dynamic_) return;
  finite_in_a_row_ = finite ? finite_in_a_row_ + 1 : 0;
  if (finite_in_a_row_ == kStepsToGrow) {
    value_ *= 2;
    finite_in_a_row_ = 0;
  }
  if (finite) return;
  value_ /= 2;
  if (value_ >= 1) return;
  throw Error(
      ErrorCode::kRunFailed,
      fmt::format("the gradients are not finite at any loss scale: {} steps were skipped and the scale "
                  "came down to 1. Training diverged, or the model needs --precision bf16",
                  skipped_),
      0, "loss_scale");
}

std::string LossScale::state() const {
  return wanted_ ? fmt::format("{} {} {}", value_, finite_in_a_row_, skipped_) : std::string();
}

void LossScale::restore(const std::string& state) {
  std::istringstream(state) >> value_ >> finite_in_a_row_ >> skipped_;
}

}  // namespace ddbench::ddp
