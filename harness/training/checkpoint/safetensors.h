#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "harness/device/tensor.h"
#include "harness/training/optimizer/optimizer.h"

namespace ddbench::ddp {

using Metadata = std::map<std::string, std::string>;

/// Writes float32 tensors of host memory as a safetensors file: the header's length in 8 bytes, the header
/// (JSON: name, shape and place of each tensor, and `metadata`), the data. The metadata get a "checksum" of
/// themselves, the names and the data. The file is on disk (fsync) when this returns; `wrote_piece` is called whenever some
/// more of it is. Throws Error{kEnvironment} that names the file; then there is none.
void write_safetensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                       Metadata metadata, const std::function<void()>& wrote_piece = [] {});

/// A safetensors file that write_safetensors made. Throws Error{kBadInput} that names the file and what is
/// wrong with it: no such file, cut short, not this format, a checksum that is not that of the data.
class SafetensorsFile {
 public:
  /// Reads the header and checks all sizes.
  explicit SafetensorsFile(std::filesystem::path file);

  const Metadata& metadata() const noexcept { return metadata_; }
  /// The metadata's value of `key`.
  const std::string& required(const std::string& key) const;
  /// Reads all data, which proves the checksum.
  void check_data() const;
  /// Fills the tensors, which must be exactly those of the file, in its order, and proves the checksum. `read_one` is called
  /// after each.
  void read(const std::vector<NamedTensor>& tensors, const std::function<void()>& read_one = [] {}) const;
  /// The same without memory of the tensors: hands over the data of each in turn. The checksum is known good only at the end.
  void read_each(const std::vector<NamedTensor>& tensors,
                 const std::function<void(std::size_t tensor, const void* data)>& take) const;

 private:
  struct Entry {
    std::string name;
    std::int64_t elements = 0;
    std::int64_t begin = 0;  // in the data
  };

  [[noreturn]] void refuse(const std::string& what) const;
  void parse_header(const std::string& header);
  template <typename PlaceOf, typename Take>
  void read_into(const std::vector<NamedTensor>& tensors, const PlaceOf& place_of, const Take& take) const;
  std::string read_at(std::int64_t begin, std::int64_t bytes) const;
  void read_at(std::int64_t begin, void* destination, std::int64_t bytes) const;

  std::filesystem::path file_;
  UniqueFd fd_;
  std::int64_t file_bytes_ = 0;
  std::int64_t data_begin_ = 0;
  Metadata metadata_;
  std::vector<Entry> entries_;
};

}  // namespace ddbench::ddp
