#include "core/threads/ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ddbench {
namespace {

using Block = std::vector<int>;
using Numbers = Ahead<Block>;

/// Blocks of the numbers from 0 on, three in each.
Numbers::Producer counting(int blocks, const std::function<void(int)>& at_block = {}) {
  return [=](Numbers::Room& room) {
    for (int i = 0; i < blocks; ++i) {
      if (at_block) at_block(i);
      Block* const block = room.next();
      if (block == nullptr) return;
      block->resize(3);
      std::iota(block->begin(), block->end(), 3 * i);
      room.hand_over();
    }
  };
}

TEST(Ahead, AllBlocksComeInOrderHoweverSlowOneSideIs) {
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  for (const bool producer_is_slow : {false, true}) {
    Numbers ahead(counting(50, [=](int) { return producer_is_slow ? nap() : void(); }));
    Block all;
    while (const Block* const block = ahead.take()) {
      if (!producer_is_slow) nap();
      all.insert(all.end(), block->begin(), block->end());
    }
    Block expected(150);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(ahead.take(), nullptr) << "again at the end";
  }
}

TEST(Ahead, WithoutBlocksTheEndComesAtOnce) {
  Numbers ahead(counting(0));
  EXPECT_EQ(ahead.take(), nullptr);
}

TEST(Ahead, WhatTheProducerThrowsComesBehindTheBlocksBeforeIt) {
  Numbers ahead(counting(5, [](int block) {
    if (block == 2) throw std::runtime_error("broken");
  }));
  EXPECT_NE(ahead.take(), nullptr);
  EXPECT_NE(ahead.take(), nullptr);
  EXPECT_THROW(ahead.take(), std::runtime_error);
}

TEST(Ahead, TheProducerEndsWhenNobodyTakesAnyMore) {
  std::atomic<int> made{0};
  {
    Numbers ahead(counting(1'000'000, [&](int block) { made = block; }));
    ASSERT_NE(ahead.take(), nullptr);
  }
  EXPECT_LT(made, 10) << "four blocks ahead, and the one that was not wanted any more";
}

}  // namespace
}  // namespace ddbench
