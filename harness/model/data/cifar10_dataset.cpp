#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/error.h"
#include "harness/model/data/datasets.h"
#include "harness/model/data/mapped_file.h"

namespace ddbench::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPixels = 32 * 32;
constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kRecordBytes = 1 + kPixels * kChannels;  // a label, then the planes of the channels
constexpr std::int32_t kClasses = 10;
constexpr int kFiles = 5;
// Of the training set's pixels, in units of 255.
constexpr std::array<float, 3> kMean{0.4914F, 0.4822F, 0.4465F};
constexpr std::array<float, 3> kDeviation{0.2470F, 0.2435F, 0.2616F};

[[noreturn]] void refuse(const fs::path& file, std::int64_t offset, const std::string& what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: offset {}: {}", file.string(), offset, what), 0,
              "read " + file.string());
}

/// One file's records, with every label checked.
class Part {
 public:
  explicit Part(const fs::path& file) : mapped_(file) {
    const auto bytes = static_cast<std::int64_t>(mapped_.bytes().size());
    if (bytes == 0 || bytes % kRecordBytes != 0) {
      refuse(file, bytes - bytes % kRecordBytes,
             fmt::format("the file ends within a record: its {} bytes are no whole number of records of {} "
                         "bytes, or none",
                         bytes, kRecordBytes));
    }
    for (std::int64_t i = 0; i < size(); ++i) {
      if (record(i)[0] >= kClasses) {
        refuse(file, i * kRecordBytes,
               fmt::format("label {}; labels are 0 to {}", record(i)[0], kClasses - 1));
      }
    }
  }
  std::int64_t size() const { return static_cast<std::int64_t>(mapped_.bytes().size()) / kRecordBytes; }
  const std::uint8_t* record(std::int64_t index) const {
    return mapped_.bytes().data() + index * kRecordBytes;
  }

 private:
  MappedFile mapped_;
};

std::vector<std::unique_ptr<Part>> open_parts(const fs::path& directory) {
  std::vector<std::unique_ptr<Part>> parts;
  for (const fs::path& folder : {directory, directory / "cifar-10-batches-bin"}) {
    for (int i = 1; i <= kFiles; ++i) {
      const fs::path file = folder / fmt::format("data_batch_{}.bin", i);
      std::error_code unreadable;
      if (fs::exists(file, unreadable)) parts.push_back(std::make_unique<Part>(file));
    }
    if (!parts.empty()) return parts;
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} holds no data_batch_1.bin to data_batch_{}.bin (the binary version of CIFAR-10), "
                  "and has no folder cifar-10-batches-bin that does",
                  directory.string(), kFiles));
}

class Cifar10 final : public Dataset {
 public:
  explicit Cifar10(const fs::path& directory) : parts_(open_parts(directory)) {
    for (const auto& part : parts_) size_ += part->size();
  }

  std::int64_t size() const noexcept override { return size_; }
  SampleShape shape() const noexcept override { return {.features = kPixels * kChannels}; }
  std::int32_t classes() const noexcept override { return kClasses; }

  void read(std::int64_t index, const Sample& sample) const override {
    auto part = parts_.begin();
    for (; index >= (*part)->size(); ++part) index -= (*part)->size();
    const std::uint8_t* const record = (*part)->record(index);
    sample.labels[0] = record[0];
    for (std::size_t c = 0; c < kChannels; ++c) {
      const std::uint8_t* const plane = record + 1 + c * kPixels;
      const float scale = 1.0F / (255.0F * kDeviation[c]);
      for (std::size_t i = 0; i < kPixels; ++i) {
        sample.numbers[i * kChannels + c] = static_cast<float>(plane[i]) * scale - kMean[c] / kDeviation[c];
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  std::int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_cifar10(const fs::path& directory) {
  return std::make_unique<Cifar10>(directory);
}

}  // namespace ddbench::workload
