// Images, tokens and masked tokens, synthetic and from files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "core/error.h"
#include "forked_ranks.h"
#include "harness/model/data/datasets.h"

namespace ddbench::workload {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int32_t>;

struct Sequence {
  Tokens tokens;
  Tokens labels;
  friend bool operator==(const Sequence&, const Sequence&) = default;
};

Sequence sequence(const Dataset& data, std::int64_t index) {
  const auto length = static_cast<std::size_t>(data.shape().features);
  Sequence read{Tokens(length), Tokens(length)};
  data.read(index, {.tokens = read.tokens, .labels = read.labels});
  return read;
}

std::pair<std::vector<float>, std::int32_t> image(const Dataset& data, std::int64_t index) {
  std::vector<float> pixels(static_cast<std::size_t>(data.shape().features));
  std::int32_t label = -1;
  data.read(index, {.numbers = pixels, .labels = {&label, 1}});
  return {pixels, label};
}

void expect_refused(const std::function<void()>& action, const std::vector<std::string>& parts) {
  try {
    action();
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    for (const std::string& part : parts) {
      EXPECT_NE(error.message().find(part), std::string::npos) << part << " is not in: " << error.message();
    }
  }
}

TEST(SyntheticImages, ClassesAreColouredFieldsUnderNoise) {
  const auto data = make_synthetic_images({.side = 32, .classes = 10, .seed = 4});
  EXPECT_EQ(data->shape(), SampleShape{.features = 32 * 32 * 3});
  EXPECT_EQ(image(*data, 7), image(*make_synthetic_images({.side = 32, .classes = 10, .seed = 4}), 7));
  EXPECT_NE(image(*data, 7), image(*make_synthetic_images({.side = 32, .classes = 10, .seed = 5}), 7));
  // The mean of an 8 x 8 field's channel shows its colour: the same for two images of a class.
  std::map<std::int32_t, std::vector<float>> first;
  int same = 0, compared = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    const auto [pixels, label] = image(*data, i);
    std::vector<float> colours(4 * 4 * 3);
    for (std::size_t p = 0; p < 32 * 32; ++p) {
      for (std::size_t c = 0; c < 3; ++c) {
        colours[(p / 32 / 8 * 4 + p % 32 / 8) * 3 + c] += pixels[p * 3 + c] / 64;
      }
    }
    const auto [at, is_new] = first.emplace(label, colours);
    if (is_new) continue;
    ++compared;
    float largest = 0;
    for (std::size_t j = 0; j < colours.size(); ++j) {
      largest = std::max(largest, std::abs(colours[j] - at->second[j]));
    }
    same += largest < 6 * std::sqrt(2.0F) / 8 ? 1 : 0;  // six deviations of the difference of two means
  }
  EXPECT_EQ(same, compared);
  EXPECT_EQ(first.size(), 10U);
}

TEST(SyntheticTokens, FollowAMarkovChainOfFourSuccessors) {
  const auto data = make_synthetic_tokens({.sequence = 100, .vocabulary = 65}, 3);
  EXPECT_EQ(data->shape(), (SampleShape{device::DataType::kInt32, 100, 100}));
  EXPECT_EQ(sequence(*data, 5), sequence(*make_synthetic_tokens({.sequence = 100, .vocabulary = 65}, 3), 5));
  std::map<std::int32_t, std::map<std::int32_t, int>> followers;
  for (std::int64_t i = 0; i < 300; ++i) {
    const Sequence read = sequence(*data, i);
    for (std::size_t t = 0; t < 100; ++t) {
      ASSERT_TRUE(read.tokens[t] >= 0 && read.tokens[t] < 65);
      if (t > 0) {
        ASSERT_EQ(read.labels[t - 1], read.tokens[t]);
      }
      ++followers[read.tokens[t]][read.labels[t]];
    }
  }
  double bits = 0, total = 0;  // of the next token, by the observed frequencies
  for (const auto& [token, counts] : followers) {
    EXPECT_LE(counts.size(), 4U) << "after " << token;
    double of_token = 0;
    for (const auto& [next, count] : counts) of_token += count;
    for (const auto& [next, count] : counts) bits -= count * std::log2(count / of_token);
    total += of_token;
  }
  EXPECT_NEAR(bits / total, 1.75, 0.12);  // two successors may be the same token: less than 1.75 now and then
}

TEST(Masked, AsManyPlacesInEverySequenceAndMostlyTheMask) {
  const auto plain = make_synthetic_tokens({.sequence = 128, .vocabulary = 500}, 1);
  const auto data = make_masked(make_synthetic_tokens({.sequence = 128, .vocabulary = 500}, 1), 499, 1);
  EXPECT_EQ(sequence(*data, 3), sequence(*data, 3));
  int masked = 0, kept = 0, all = 0;
  std::vector<int> places(128);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Sequence before = sequence(*plain, i), read = sequence(*data, i);
    int labels = 0;
    for (std::size_t t = 0; t < 128; ++t) {
      if (read.labels[t] == device::kIgnoredLabel) {
        ASSERT_EQ(read.tokens[t], before.tokens[t]);
        continue;
      }
      ++labels;
      ++places[t];
      ASSERT_EQ(read.labels[t], before.tokens[t]);
      masked += read.tokens[t] == 499 ? 1 : 0;
      kept += read.tokens[t] == before.tokens[t] ? 1 : 0;
    }
    EXPECT_EQ(labels, 19) << "15% of 128";
    all += labels;
  }
  EXPECT_NEAR(masked, 0.8 * all, 0.02 * all);
  EXPECT_NEAR(kept, 0.1 * all, 0.02 * all);
  for (const int count : places) EXPECT_NEAR(count, 148, 6 * 11);
}

class Files : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<std::uint8_t>& bytes) {
    fs::create_directories((directory_.path() / name).parent_path());
    std::ofstream(directory_.path() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return directory_.path() / name;
  }
  static std::vector<std::uint8_t> bytes_of(const std::vector<std::uint16_t>& tokens) {
    std::vector<std::uint8_t> bytes(2 * tokens.size());
    std::memcpy(bytes.data(), tokens.data(), bytes.size());
    return bytes;
  }
  test::TemporaryDirectory directory_;
};

TEST_F(Files, TokensAreReadInSequences) {
  const fs::path file = write("train.bin", bytes_of({5, 6, 7, 8, 9, 1, 2}));
  for (const fs::path& place : {file, directory_.path()}) {
    const auto data = make_token_file(place, {.sequence = 3, .vocabulary = 10});
    ASSERT_EQ(data->size(), 2);
    EXPECT_EQ(sequence(*data, 0), (Sequence{{5, 6, 7}, {6, 7, 8}}));
    EXPECT_EQ(sequence(*data, 1), (Sequence{{8, 9, 1}, {9, 1, 2}}));
  }
}

TEST_F(Files, BrokenTokenFilesAreRefusedWithTheOffset) {
  const TokenOptions options{.sequence = 3, .vocabulary = 10};
  const auto open = [&](const fs::path& file) { return [&, file] { make_token_file(file, options); }; };
  expect_refused(open("/nowhere/tokens.bin"), {"/nowhere/tokens.bin"});
  expect_refused(open(write("odd.bin", {1, 0, 2, 0, 3})), {"odd.bin", "offset 4", "5 bytes"});
  expect_refused(open(write("short.bin", bytes_of({1, 2, 3}))), {"short.bin", "offset 6", "need 4"});
  const auto data = make_token_file(write("wide.bin", bytes_of({1, 2, 3, 4, 10, 1, 1})), options);
  EXPECT_EQ(sequence(*data, 0).tokens, (Tokens{1, 2, 3}));
  expect_refused([&] { sequence(*data, 1); }, {"wide.bin", "offset 8", "token 10"});
}

constexpr std::size_t kRecord = 3073;

std::vector<std::uint8_t> cifar_records(const std::vector<std::uint8_t>& labels) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint8_t label : labels) {
    bytes.push_back(label);
    for (std::size_t i = 0; i < kRecord - 1; ++i)
      bytes.push_back(static_cast<std::uint8_t>(i / 1024 * 50 + i % 7));
  }
  return bytes;
}

TEST_F(Files, Cifar10IsReadAcrossItsFilesAsNhwc) {
  write("cifar-10-batches-bin/data_batch_1.bin", cifar_records({3, 9}));
  write("cifar-10-batches-bin/data_batch_4.bin", cifar_records({0}));
  const auto data = make_cifar10(directory_.path());
  ASSERT_EQ(data->size(), 3);
  EXPECT_EQ(image(*data, 0).second, 3);
  EXPECT_EQ(image(*data, 1).second, 9);
  const auto [pixels, label] = image(*data, 2);
  EXPECT_EQ(label, 0);
  const double mean[] = {0.4914, 0.4822, 0.4465}, deviation[] = {0.2470, 0.2435, 0.2616};
  for (const std::size_t pixel : {0U, 5U, 1023U}) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto byte = static_cast<double>(c * 50 + (c * 1024 + pixel) % 7);
      EXPECT_NEAR(pixels[pixel * 3 + c], (byte / 255 - mean[c]) / deviation[c], 1e-5);
    }
  }
}

TEST_F(Files, BrokenCifar10IsRefusedWithTheOffset) {
  const auto open = [&] { make_cifar10(directory_.path()); };
  expect_refused(open, {directory_.path().string(), "data_batch_1.bin"});
  write("data_batch_2.bin", cifar_records({1, 10}));
  expect_refused(open, {"data_batch_2.bin", "offset 3073", "label 10"});
  auto bytes = cifar_records({1, 2});
  bytes.pop_back();
  write("data_batch_2.bin", bytes);
  expect_refused(open, {"data_batch_2.bin", "offset 3073", "6145 bytes"});
  write("data_batch_2.bin", {});
  expect_refused(open, {"data_batch_2.bin", "offset 0"});
}

}  // namespace
}  // namespace ddbench::workload
