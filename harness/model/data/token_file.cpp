#include <fmt/format.h>

#include <cstring>

#include "core/error.h"
#include "harness/model/data/datasets.h"
#include "harness/model/data/mapped_file.h"

namespace ddbench::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTokenBytes = sizeof(std::uint16_t);

fs::path file_at(const fs::path& place) {
  std::error_code unreadable;
  return fs::is_directory(place, unreadable) ? place / "train.bin" : place;
}

class TokenFile final : public Dataset {
 public:
  TokenFile(const fs::path& place, const TokenOptions& options)
      : options_(options), file_(file_at(place)), mapped_(file_) {
    const std::size_t bytes = mapped_.bytes().size();
    if (bytes % kTokenBytes != 0) {
      refuse(bytes - 1,
             fmt::format("the file ends within a token: its {} bytes are no whole number of uint16", bytes));
    }
    count_ = static_cast<std::int64_t>(bytes / kTokenBytes);
    if (count_ <= options.sequence) {
      refuse(bytes, fmt::format("the file ends here after {} tokens; one sequence and its labels need {}",
                                count_, options.sequence + 1));
    }
  }

  std::int64_t size() const noexcept override { return (count_ - 1) / options_.sequence; }
  SampleShape shape() const noexcept override {
    return {device::DataType::kInt32, options_.sequence, options_.sequence};
  }
  std::int32_t classes() const noexcept override { return options_.vocabulary; }

  void read(std::int64_t index, const Sample& sample) const override {
    const auto first = static_cast<std::size_t>(index * options_.sequence);
    std::int32_t token = at(first);
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      sample.tokens[i] = token;
      token = at(first + i + 1);
      sample.labels[i] = token;
    }
  }

 private:
  std::int32_t at(std::size_t place) const {
    std::uint16_t token = 0;
    std::memcpy(&token, mapped_.bytes().data() + place * kTokenBytes, kTokenBytes);
    if (token >= options_.vocabulary) {
      refuse(place * kTokenBytes,
             fmt::format("token {}; the vocabulary has {} (option vocabulary)", token, options_.vocabulary));
    }
    return token;
  }

  [[noreturn]] void refuse(std::size_t offset, const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: offset {}: {}", file_.string(), offset, what), 0,
                "read " + file_.string());
  }

  const TokenOptions options_;
  const fs::path file_;
  MappedFile mapped_;
  std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_token_file(const fs::path& file, const TokenOptions& options) {
  return std::make_unique<TokenFile>(file, options);
}

}  // namespace ddbench::workload
