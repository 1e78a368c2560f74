#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "harness/model/data/datasets.h"
#include "harness/model/data/mapped_file.h"

namespace ddbench::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kClasses = 10;
constexpr std::uint32_t kMaxSide = 4096;

[[noreturn]] void refuse(const fs::path& file, std::size_t offset, const std::string& what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: offset {}: {}", file.string(), offset, what), 0,
              "read " + file.string());
}

/// One IDX file of unsigned bytes: magic 00 00 08 <dimensions>, the sizes as big-endian 32-bit numbers, the
/// data.
class IdxFile {
 public:
  IdxFile(fs::path file, int dimensions) : file_(std::move(file)), mapped_(file_) {
    const std::uint32_t magic = 0x0800U | static_cast<std::uint32_t>(dimensions);
    const std::uint32_t found = number(0, "the magic number");
    if ((found >> 16) == 0x1F8B) refuse(file_, 0, "this file is compressed; unpack it with gunzip");
    if (found != magic) {
      refuse(file_, 0,
             fmt::format(
                 "magic number {:#010x} where an IDX file of {} dimensions of unsigned bytes has {:#010x}",
                 found, dimensions, magic));
    }
    for (int i = 0; i < dimensions; ++i) sizes_.push_back(number(4 * (i + 1), "a size"));
    header_bytes_ = 4 * (static_cast<std::size_t>(dimensions) + 1);
  }

  std::uint32_t size(std::size_t dimension) const { return sizes_[dimension]; }

  /// The data, which must be exactly `items * item_bytes` long.
  std::span<const std::uint8_t> data(std::uint64_t items, std::uint64_t item_bytes) const {
    const std::uint64_t wanted = items * item_bytes;
    const auto there = mapped_.bytes().subspan(header_bytes_);
    if (there.size() < wanted) {
      refuse(file_, mapped_.bytes().size(),
             fmt::format("the file ends here; its header promises {} more bytes", wanted - there.size()));
    }
    if (there.size() > wanted) {
      refuse(file_, header_bytes_ + wanted,
             fmt::format("{} bytes after the end of the data", there.size() - wanted));
    }
    return there;
  }

  const fs::path& file() const { return file_; }
  std::size_t header_bytes() const { return header_bytes_; }

 private:
  std::uint32_t number(std::size_t offset, const char* what) const {
    const auto bytes = mapped_.bytes();
    if (bytes.size() < offset + 4)
      refuse(file_, bytes.size(), fmt::format("the file ends here, before {}", what));
    return std::uint32_t{bytes[offset]} << 24 | std::uint32_t{bytes[offset + 1]} << 16 |
           std::uint32_t{bytes[offset + 2]} << 8 | std::uint32_t{bytes[offset + 3]};
  }

  fs::path file_;
  MappedFile mapped_;
  std::vector<std::uint32_t> sizes_;
  std::size_t header_bytes_ = 0;
};

fs::path find(const fs::path& directory, std::string_view stem, int dimensions) {
  const std::array<std::string, 3> names{fmt::format("{}-idx{}-ubyte", stem, dimensions),
                                         fmt::format("{}.idx{}-ubyte", stem, dimensions),
                                         fmt::format("{}.idx", stem)};
  std::string compressed;
  for (const fs::path& folder : {directory, directory / "raw"}) {
    for (const std::string& name : names) {
      std::error_code unreadable;
      if (fs::exists(folder / name, unreadable)) return folder / name;
      if (fs::exists(folder / (name + ".gz"), unreadable)) compressed = (folder / (name + ".gz")).string();
    }
  }
  if (!compressed.empty()) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is compressed; unpack it with gunzip", compressed));
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} holds no {} (nor {}, {}, nor one of them in a folder raw)", directory.string(),
                          names[0], names[1], names[2]));
}

class Idx final : public Dataset {
 public:
  explicit Idx(const fs::path& directory)
      : images_(find(directory, "train-images", 3), 3), labels_(find(directory, "train-labels", 1), 1) {
    const std::uint32_t count = images_.size(0);
    const std::uint32_t rows = images_.size(1);
    const std::uint32_t columns = images_.size(2);
    if (count == 0) refuse(images_.file(), 4, "there are no images");
    if (rows == 0 || columns == 0 || rows > kMaxSide || columns > kMaxSide) {
      refuse(images_.file(), 8,
             fmt::format("images of {} x {} pixels; sides of 1 to {} are allowed", rows, columns, kMaxSide));
    }
    if (labels_.size(0) != count) {
      refuse(
          labels_.file(), 4,
          fmt::format("{} labels for the {} images of {}", labels_.size(0), count, images_.file().string()));
    }
    pixels_ = images_.data(count, std::uint64_t{rows} * columns);
    classes_ = labels_.data(count, 1);
    features_ = std::int64_t{rows} * columns;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (classes_[i] < kClasses) continue;
      refuse(labels_.file(), labels_.header_bytes() + i,
             fmt::format("label {}; labels are 0 to {}", classes_[i], kClasses - 1));
    }
  }

  std::int64_t size() const noexcept override { return static_cast<std::int64_t>(classes_.size()); }
  SampleShape shape() const noexcept override { return {.features = features_}; }
  std::int32_t classes() const noexcept override { return kClasses; }

  void read(std::int64_t index, const Sample& sample) const override {
    const std::uint8_t* const image = pixels_.data() + index * features_;
    for (std::size_t i = 0; i < sample.numbers.size(); ++i) {
      sample.numbers[i] = static_cast<float>(image[i]) * (2.0F / 255.0F) - 1.0F;
    }
    sample.labels[0] = classes_[static_cast<std::size_t>(index)];
  }

 private:
  IdxFile images_;
  IdxFile labels_;
  std::span<const std::uint8_t> pixels_;
  std::span<const std::uint8_t> classes_;
  std::int64_t features_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_idx(const fs::path& directory) {
  return std::make_unique<Idx>(directory);
}

}  // namespace ddbench::workload
