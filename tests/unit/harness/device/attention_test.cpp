// Attention and its gradient, against the formula in double precision and its derivative.
#include <algorithm>
#include <cmath>
#include <utility>

#include "differences.h"

namespace ddbench::device {
namespace {

using AttentionTest = Differences;

Numbers attend(const AttentionShape& shape, std::int64_t channels, const Numbers& qkv) {
  const std::int64_t width = channels / shape.heads;
  Numbers y(static_cast<std::size_t>(shape.batch * shape.sequence * channels));
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const auto at = [&](std::int64_t t, std::int64_t which, std::int64_t i) {
        return qkv[(b * shape.sequence + t) * 3 * channels + which * channels + head * width + i];
      };
      for (std::int64_t t = 0; t < shape.sequence; ++t) {
        const std::int64_t seen = shape.mask == AttentionMask::kCausal ? t + 1 : shape.sequence;
        Numbers p;
        double sum = 0;
        for (std::int64_t s = 0; s < seen; ++s) {
          double score = 0;
          for (std::int64_t i = 0; i < width; ++i) score += at(t, 0, i) * at(s, 1, i);
          p.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
          sum += p.back();
        }
        for (std::int64_t s = 0; s < seen; ++s) {
          for (std::int64_t i = 0; i < width; ++i) {
            y[(b * shape.sequence + t) * channels + head * width + i] += p[s] / sum * at(s, 2, i);
          }
        }
      }
    }
  }
  return y;
}

TEST_P(AttentionTest, OfSmallHeads) {
  constexpr std::int64_t kChannels = 6;
  for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal}) {
    const AttentionShape shape{.batch = 2, .sequence = 7, .heads = 2, .mask = mask};
    const Tensor qkv = random(14, 3 * kChannels), dy = random(14, kChannels), y = zeros(14, kChannels),
                 statistics = zeros(4, 7, kFloat), dqkv = zeros(14, 3 * kChannels);
    device_->attention_forward(shape, qkv, statistics, y);
    device_->attention_backward(shape, qkv, y, statistics, dy, dqkv);
    expect_operator([&](const std::vector<Numbers>& in) { return attend(shape, kChannels, in[0]); },
                    {numbers(qkv)}, y, numbers(dy), {dqkv});
  }
}

TEST_P(AttentionTest, OverSeveralBlocksOfQueries) {
  // Too large for differences of each input: some of them.
  constexpr std::int64_t kSequence = 150, kChannels = 4;
  for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal}) {
    const AttentionShape shape{.batch = 1, .sequence = kSequence, .heads = 1, .mask = mask};
    const Tensor qkv = random(kSequence, 3 * kChannels), dy = random(kSequence, kChannels),
                 y = zeros(kSequence, kChannels), statistics = zeros(1, kSequence, kFloat),
                 dqkv = zeros(kSequence, 3 * kChannels);
    device_->attention_forward(shape, qkv, statistics, y);
    device_->attention_backward(shape, qkv, y, statistics, dy, dqkv);
    Numbers inputs = numbers(qkv);
    expect_near(y, attend(shape, kChannels, inputs), "y");
    const Numbers weights = numbers(dy), slopes = numbers(dqkv);
    const double largest = *std::max_element(slopes.begin(), slopes.end());
    for (std::size_t i = 3; i < inputs.size(); i += 97) {
      double slope = 0;
      for (const double delta : {1e-5, -1e-5}) {
        const double before = std::exchange(inputs[i], inputs[i] + delta);
        const Numbers moved = attend(shape, kChannels, inputs);
        for (std::size_t j = 0; j < moved.size(); ++j) slope += moved[j] * weights[j] / (2 * delta);
        inputs[i] = before;
      }
      ASSERT_NEAR(slopes[i], slope, (GetParam() == kFloat ? 1e-5 : 2e-2) * largest) << "element " << i;
    }
  }
}

/// What the formula makes of one head: rows of `width` numbers, in the order of the queries.
struct Head {
  Numbers q, k, v, dy;
  std::int64_t sequence, width;
  bool causal;

  Numbers y, dq, dk, dv, statistics;

  void compute() {
    y = dq = dk = dv = Numbers(q.size());
    statistics.clear();
    for (std::int64_t t = 0; t < sequence; ++t) row(t);
  }

 private:
  double product(const Numbers& a, std::int64_t i, const Numbers& b, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += a[i * width + c] * b[j * width + c];
    return sum;
  }
  void add(double factor, const Numbers& from, std::int64_t i, Numbers& to, std::int64_t j) const {
    for (std::int64_t c = 0; c < width; ++c) to[j * width + c] += factor * from[i * width + c];
  }
  void row(std::int64_t t) {
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    const std::int64_t seen = causal ? t + 1 : sequence;
    Numbers p;
    double sum = 0;
    for (std::int64_t s = 0; s < seen; ++s) sum += p.emplace_back(std::exp(product(q, t, k, s) * scale));
    statistics.push_back(std::log(sum));
    for (std::int64_t s = 0; s < seen; ++s) add(p[s] /= sum, v, s, y, t);
    const double all = product(dy, t, y, t);
    for (std::int64_t s = 0; s < seen; ++s) {
      const double slope = p[s] * (product(dy, t, v, s) - all) * scale;
      add(p[s], dy, t, dv, s);
      add(slope, k, s, dq, t);
      add(slope, q, t, dk, s);
    }
  }
};

/// Copies a head out of, or into, `matrix`, the columns of which are `parts` times the channels.
template <typename Copy>
void each_of_head(const AttentionShape& shape, std::int64_t width, std::int64_t head, std::int64_t parts,
                  std::int64_t part, Copy&& copy) {
  const std::int64_t channels = shape.heads * width;
  for (std::int64_t t = 0; t < shape.sequence; ++t) {
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t row = head / shape.heads * shape.sequence + t;
      copy((row * parts + part) * channels + head % shape.heads * width + c, t * width + c);
    }
  }
}

struct Attended {
  Numbers y, statistics, dqkv;
};

Attended attended(const AttentionShape& shape, std::int64_t width, const Numbers& qkv, const Numbers& dy) {
  Attended all{Numbers(dy.size()), {}, Numbers(qkv.size())};
  for (std::int64_t number = 0; number < shape.batch * shape.heads; ++number) {
    const Numbers none(static_cast<std::size_t>(shape.sequence * width));
    Head head{none, none, none, none, shape.sequence, width, shape.mask == AttentionMask::kCausal, {},
              {},   {},   {},   {}};
    const auto take = [&](const Numbers& from, std::int64_t parts, std::int64_t part, Numbers& to) {
      each_of_head(shape, width, number, parts, part,
                   [&](std::int64_t theirs, std::int64_t ours) { to[ours] = from[theirs]; });
    };
    const auto give = [&](const Numbers& from, std::int64_t parts, std::int64_t part, Numbers& to) {
      each_of_head(shape, width, number, parts, part,
                   [&](std::int64_t theirs, std::int64_t ours) { to[theirs] = from[ours]; });
    };
    take(qkv, 3, 0, head.q);
    take(qkv, 3, 1, head.k);
    take(qkv, 3, 2, head.v);
    take(dy, 1, 0, head.dy);
    head.compute();
    give(head.y, 1, 0, all.y);
    give(head.dq, 3, 0, all.dqkv);
    give(head.dk, 3, 1, all.dqkv);
    give(head.dv, 3, 2, all.dqkv);
    all.statistics.insert(all.statistics.end(), head.statistics.begin(), head.statistics.end());
  }
  return all;
}

// Widths that fused kernels take, and sequences that their tiles do not divide. Without them, rows of whole packs of
// eight numbers and others, of more keys than threads too.
TEST_P(AttentionTest, OfWideHeads) {
  struct Case {
    std::int64_t batch, sequence, heads, width;
  };
  for (const auto [batch, sequence, heads, width] :
       {Case{2, 100, 3, 64}, Case{2, 65, 2, 128}, Case{1, 129, 4, 32}, Case{3, 64, 1, 8}, Case{2, 2, 2, 64},
        Case{3, 1, 2, 16}, Case{1, 40, 2, 136}, Case{1, 264, 1, 136}, Case{1, 261, 1, 4}}) {
    for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal}) {
      SCOPED_TRACE(testing::Message() << batch << " x " << sequence << ", " << heads << " heads of " << width
                                      << (mask == AttentionMask::kCausal ? ", causal" : ""));
      const AttentionShape shape{.batch = batch, .sequence = sequence, .heads = heads, .mask = mask};
      const std::int64_t rows = batch * sequence, channels = heads * width;
      const Tensor qkv = random(rows, 3 * channels), dy = random(rows, channels), y = zeros(rows, channels),
                   statistics = zeros(batch * heads, sequence, kFloat), dqkv = zeros(rows, 3 * channels),
                   again = zeros(rows, 3 * channels);
      device_->attention_forward(shape, qkv, statistics, y);
      device_->attention_backward(shape, qkv, y, statistics, dy, dqkv);
      device_->attention_backward(shape, qkv, y, statistics, dy, again);
      const Attended expected = attended(shape, width, numbers(qkv), numbers(dy));
      expect_near(y, expected.y, "y");
      expect_near(statistics, expected.statistics, "statistics");
      expect_near(dqkv, expected.dqkv, "dqkv");
      EXPECT_EQ(numbers(again), numbers(dqkv)) << "equal inputs give equal bits";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AttentionTest,
                         testing::Values(kFloat, DataType::kBfloat16, DataType::kFloat16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace ddbench::device
