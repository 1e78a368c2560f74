#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <vector>

#include "core/error.h"
#include "forked_ranks.h"
#include "harness/model/architectures/registry.h"
#include "harness/model/data/datasets.h"

namespace ddbench::workload {
namespace {

namespace fs = std::filesystem;
using File = std::vector<std::uint8_t>;

constexpr std::uint32_t kCount = 5, kRows = 3, kColumns = 2, kPixels = kRows * kColumns;

void put(File& file, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) file.push_back(static_cast<std::uint8_t>(number >> shift));
}

File images() {
  File file;
  for (const std::uint32_t number : {0x00000803U, kCount, kRows, kColumns}) put(file, number);
  for (std::uint32_t i = 0; i < kCount * kPixels; ++i) file.push_back(static_cast<std::uint8_t>(i * 8));
  return file;
}

File labels() {
  File file;
  for (const std::uint32_t number : {0x00000801U, kCount}) put(file, number);
  for (std::uint32_t i = 0; i < kCount; ++i) file.push_back(static_cast<std::uint8_t>(9 - i));
  return file;
}

class Idx : public testing::Test {
 protected:
  void write(const std::string& name, const File& bytes) {
    const fs::path file = directory_.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void write_both(const File& image_file, const File& label_file) {
    write("train-images-idx3-ubyte", image_file);
    write("train-labels-idx1-ubyte", label_file);
  }
  void expect_refused(const std::vector<std::string>& parts) {
    try {
      make_idx(directory_.path());
      FAIL() << "was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      for (const std::string& part : parts) {
        EXPECT_NE(error.message().find(part), std::string::npos) << part << " is not in: " << error.message();
      }
    }
  }
  test::TemporaryDirectory directory_;
};

void expect_good(const Dataset& data) {
  ASSERT_EQ(data.size(), kCount);
  ASSERT_EQ(data.shape(), SampleShape{.features = kPixels});
  EXPECT_EQ(data.classes(), 10);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::vector<float> sample(kPixels);
    std::int32_t label = -1;
    data.read(i, {.numbers = sample, .labels = {&label, 1}});
    EXPECT_EQ(label, static_cast<int>(9 - i));
    for (std::uint32_t j = 0; j < kPixels; ++j)
      EXPECT_NEAR(sample[j], (i * kPixels + j) * 8 / 127.5 - 1, 1e-6);
  }
}

TEST_F(Idx, ReadsWhatWasWritten) {
  write_both(images(), labels());
  expect_good(*make_idx(directory_.path()));
}

TEST_F(Idx, OtherUsualNamesAndTheRawFolder) {
  write("train-images.idx3-ubyte", images());
  write("raw/train-labels.idx", labels());
  expect_good(*make_idx(directory_.path()));
}

TEST_F(Idx, MissingFilesAreNamed) {
  expect_refused({directory_.path().string(), "train-images-idx3-ubyte", "train-images.idx"});
  write("train-images-idx3-ubyte", images());
  expect_refused({directory_.path().string(), "train-labels-idx1-ubyte"});
}

TEST_F(Idx, CompressedFilesAreRecognized) {
  write("train-images-idx3-ubyte.gz", {0x1F, 0x8B});
  expect_refused({"train-images-idx3-ubyte.gz is compressed", "gunzip"});
  write_both({0x1F, 0x8B, 8, 0, 0, 0}, labels());  // renamed, but not unpacked
  expect_refused({"train-images-idx3-ubyte: offset 0", "gunzip"});
}

TEST_F(Idx, EveryTruncationIsRefused) {
  const File whole_images = images(), whole_labels = labels();
  for (std::size_t length = 0; length < whole_images.size(); ++length) {
    write_both({whole_images.begin(), whole_images.begin() + static_cast<std::ptrdiff_t>(length)},
               whole_labels);
    expect_refused({fmt::format("train-images-idx3-ubyte: offset {}: the file ends here", length)});
  }
  for (std::size_t length = 0; length < whole_labels.size(); ++length) {
    write_both(whole_images,
               {whole_labels.begin(), whole_labels.begin() + static_cast<std::ptrdiff_t>(length)});
    expect_refused({fmt::format("train-labels-idx1-ubyte: offset {}: the file ends here", length)});
  }
}

TEST_F(Idx, BytesLeftOverAreRefused) {
  File file = images();
  file.push_back(0);
  write_both(file, labels());
  expect_refused({fmt::format("offset {}: 1 bytes after the end", images().size())});
}

TEST_F(Idx, WrongMagicIsRefused) {
  write_both(labels(), images());  // swapped
  expect_refused({"train-images-idx3-ubyte: offset 0", "0x00000801", "0x00000803"});
  File file = images();
  file[2] = 0x0D;  // float32
  write_both(file, labels());
  expect_refused({"offset 0", "0x00000d03"});
}

TEST_F(Idx, SizesThatCannotBeAreRefused) {
  const auto with_number = [](File file, std::size_t offset, std::uint32_t number) {
    for (int i = 0; i < 4; ++i)
      file[offset + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    return file;
  };
  write_both(with_number(images(), 4, 0), labels());
  expect_refused({"offset 4: there are no images"});
  for (const std::uint32_t side : {0U, 4097U, 0xFFFFFFFFU}) {
    write_both(with_number(images(), 8, side), labels());
    expect_refused({"offset 8", std::to_string(side)});
  }
  write_both(with_number(images(), 4, 0xFFFFFFFFU), with_number(labels(), 4, 0xFFFFFFFFU));  // 24 GB promised
  expect_refused({"the file ends here"});
  write_both(images(), with_number(labels(), 4, kCount + 1));
  expect_refused({"train-labels-idx1-ubyte: offset 4", "6 labels for the 5 images"});
}

TEST_F(Idx, LabelOfTenIsRefusedWithItsOffset) {
  File file = labels();
  file[8 + 3] = 10;
  write_both(images(), file);
  expect_refused({"train-labels-idx1-ubyte: offset 11: label 10; labels are 0 to 9"});
}

TEST_F(Idx, ImagesOfAnotherSizeDoNotFitTheMlp) {
  write_both(images(), labels());
  try {
    make_workload("mlp", {})->make_dataset(directory_.path().string(), 1);
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("have 6 pixels; workload mlp needs 28 x 28 = 784"), std::string::npos)
        << error.message();
  }
}

TEST_F(Idx, DirectoryInPlaceOfAFileIsRefused) {
  fs::create_directory(directory_.path() / "train-images-idx3-ubyte");
  expect_refused({"train-images-idx3-ubyte is no regular file"});
}

}  // namespace
}  // namespace ddbench::workload
