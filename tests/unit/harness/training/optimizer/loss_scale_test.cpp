// The rule of the loss scale. What it does to training is in loss_scaling_test.cpp.
#include "harness/training/optimizer/loss_scale.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "expect_error.h"

namespace ddbench::ddp {
namespace {

RunCase case_with(const std::string& precision, const std::string& loss_scale) {
  RunCase run_case;
  run_case.precision = precision;
  run_case.loss_scale = loss_scale;
  return run_case;
}

TEST(LossScale, IsDynamicForFloat16AndElseNone) {
  EXPECT_FALSE(LossScale(case_with("fp32", "")).wanted());
  EXPECT_FALSE(LossScale(case_with("bf16", "")).wanted());
  EXPECT_FALSE(LossScale(case_with("fp16", "none")).wanted());
  EXPECT_EQ(LossScale(case_with("fp16", "none")).value(), 1);
  EXPECT_TRUE(LossScale(case_with("fp16", "")).wanted());
  EXPECT_EQ(LossScale(case_with("fp16", "")).value(), 65536);
  EXPECT_EQ(LossScale(case_with("fp32", "dynamic")).value(), 65536);
  EXPECT_EQ(LossScale(case_with("fp16", "128.5")).value(), 128.5);
}

TEST(LossScale, HalvesAtOnceAndDoublesAfterTwoThousandGoodStepsInARow) {
  LossScale scale(case_with("fp16", "dynamic"));
  scale.after_step(false);
  scale.after_step(false);
  EXPECT_EQ(scale.value(), 16384);
  EXPECT_EQ(scale.skipped(), 2U);
  for (int step = 0; step < 1999; ++step) scale.after_step(true);
  EXPECT_EQ(scale.value(), 16384);
  scale.after_step(false);
  EXPECT_EQ(scale.value(), 8192) << "the row is broken";
  for (int step = 0; step < 2000; ++step) scale.after_step(true);
  EXPECT_EQ(scale.value(), 16384);
  for (int step = 0; step < 2000; ++step) scale.after_step(true);
  EXPECT_EQ(scale.value(), 32768);
  EXPECT_EQ(scale.skipped(), 3U);
}

TEST(LossScale, AFixedOneStays) {
  LossScale scale(case_with("fp16", "1024"));
  for (int step = 0; step < 5000; ++step) scale.after_step(step % 2 == 0);
  EXPECT_EQ(scale.value(), 1024);
  EXPECT_EQ(scale.skipped(), 2500U);
}

TEST(LossScale, GoesOnFromItsState) {
  LossScale before(case_with("fp16", "dynamic"));
  before.after_step(false);
  for (int step = 0; step < 1500; ++step) before.after_step(true);
  LossScale after(case_with("fp16", "dynamic"));
  after.restore(before.state());
  EXPECT_EQ(after.value(), before.value());
  EXPECT_EQ(after.skipped(), 1U);
  for (int step = 0; step < 500; ++step) after.after_step(true);
  EXPECT_EQ(after.value(), 65536) << "the row goes on";
}

TEST(LossScale, AnErrorWhenNoneHelps) {
  LossScale scale(case_with("fp16", ""));
  for (int step = 0; step < 16; ++step) scale.after_step(false);
  EXPECT_EQ(scale.value(), 1);
  EXPECT_ERROR(ErrorCode::kRunFailed, "17 steps were skipped", scale.after_step(false));
}

TEST(LossScale, WhatIsNoneIsRefused) {
  for (const char* const text : {"0", "-1", "nan", "inf", "1e99", "12x", "dyn", "auto", "1 "}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "loss-scale", validate(case_with("fp16", text)));
  }
  for (const char* const text : {"", "none", "dynamic", "1", "65536", "0.5", "1e30"}) {
    EXPECT_NO_THROW(validate(case_with("fp32", text))) << text;
  }
}

}  // namespace
}  // namespace ddbench::ddp
