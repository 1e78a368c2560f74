#include "harness/training/checkpoint/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/library_error/outside_json.h"
#include "harness/model/random.h"

namespace ddbench::ddp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLengthBytes = 8;
constexpr std::int64_t kMostHeaderBytes = 100'000'000;  // the format's own limit
constexpr const char* kChecksum = "checksum";
static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

/// Of metadata, names and data. A piece of another length than a multiple of 8 bytes must be the last of its
/// tensor.
class Checksum {
 public:
  explicit Checksum(const Metadata& metadata) {
    for (const auto& [key, value] : metadata) {
      if (key == kChecksum) continue;
      add(key);
      add(value);
    }
  }
  void add(const std::string& text) { add(text.data(), static_cast<std::int64_t>(text.size())); }
  void add(const void* data, std::int64_t bytes) {
    const char* at = static_cast<const char*>(data);
    for (; bytes > 0; bytes -= 8, at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, static_cast<std::size_t>(std::min<std::int64_t>(bytes, 8)));
      hash_ = workload::mix_bits(hash_ ^ word);
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0;
};

std::string header_of(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  Json json;
  json["__metadata__"] = metadata;
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::int64_t end = begin + tensor.bytes();
    Json shape = Json::array({tensor.columns});
    if (tensor.rows > 1) shape.insert(shape.begin(), tensor.rows);
    json[name] = {{"dtype", "F32"}, {"shape", std::move(shape)}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string header = json.dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');  // the data are aligned
  return header;
}

/// Synchronizes a large file piece by piece: one fsync at its end could take minutes, in which nothing shows that it goes on.
class Output {
 public:
  Output(const std::filesystem::path& file, const std::function<void()>& wrote_piece)
      : file_(file),
        wrote_piece_(wrote_piece),
        fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (fd_.get() < 0) fail();
  }
  void write(const void* data, std::int64_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(fd_.get(), at, static_cast<std::size_t>(std::min(bytes, kPieceBytes - unsynced_bytes_)));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      at += written;
      bytes -= written;
      unsynced_bytes_ += written;
      if (unsynced_bytes_ == kPieceBytes) sync_piece();
    }
  }
  void finish() {
    if (::fsync(fd_.get()) != 0) fail();
  }

 private:
  static constexpr std::int64_t kPieceBytes = std::int64_t{64} << 20;

  void sync_piece() {
    if (::fdatasync(fd_.get()) != 0) fail();
    unsynced_bytes_ = 0;
    wrote_piece_();
  }
  [[noreturn]] void fail() {
    const int error = errno;
    if (fd_.get() >= 0) ::unlink(file_.c_str());
    throw_errno(error, fmt::format("cannot write the checkpoint {}", file_.string()),
                ErrorCode::kEnvironment);
  }

  const std::filesystem::path& file_;
  const std::function<void()>& wrote_piece_;
  UniqueFd fd_;
  std::int64_t unsynced_bytes_ = 0;
};

/// The product of the extents; empty when one is no whole number, or when a file of `file_bytes` cannot hold
/// as many.
std::optional<std::int64_t> elements_of(const nlohmann::json& shape, std::int64_t file_bytes) {
  std::int64_t elements = 1;
  for (const nlohmann::json& extent : shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<std::uint64_t>() > static_cast<std::uint64_t>(file_bytes) ||
        __builtin_mul_overflow(elements, extent.get<std::int64_t>(), &elements)) {
      return std::nullopt;
    }
  }
  return elements <= file_bytes / std::int64_t{sizeof(float)} ? std::optional(elements) : std::nullopt;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                       Metadata metadata, const std::function<void()>& wrote_piece) {
  Checksum checksum(metadata);
  for (const auto& [name, tensor] : tensors) {
    checksum.add(name);
    checksum.add(tensor.data, tensor.bytes());
    wrote_piece();  // none, but a pass over it
  }
  metadata[kChecksum] = checksum.text();
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  Output output(file, wrote_piece);
  output.write(&length, kLengthBytes);
  output.write(header.data(), static_cast<std::int64_t>(length));
  for (const NamedTensor& named : tensors) output.write(named.tensor.data, named.tensor.bytes());
  output.finish();
}

SafetensorsFile::SafetensorsFile(std::filesystem::path file)
    : file_(std::move(file)), fd_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (fd_.get() < 0 || ::fstat(fd_.get(), &status) != 0) refuse(std::generic_category().message(errno));
  file_bytes_ = status.st_size;
  std::uint64_t length = 0;
  if (file_bytes_ < kLengthBytes) refuse("it is cut short");
  read_at(0, &length, kLengthBytes);
  if (length > kMostHeaderBytes || static_cast<std::int64_t>(length) > file_bytes_ - kLengthBytes) {
    refuse(fmt::format("its header would be {} bytes long, the file has {}", length, file_bytes_));
  }
  data_begin_ = kLengthBytes + static_cast<std::int64_t>(length);
  try {
    parse_header(read_at(kLengthBytes, static_cast<std::int64_t>(length)));
  } catch (const Error& error) {
    if (error.where() == file_.string()) throw;
    refuse(error.message());
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("its header cannot be read: {}", error.what()));
  }
}

void SafetensorsFile::parse_header(const std::string& header) {
  constexpr std::size_t kMostKeys = 200'000;
  check_outside_json(header, kMostKeys);
  const auto json = nlohmann::json::parse(header);  // sorted by name: keeping the order of many keys takes long
  metadata_ = json.at("__metadata__").get<Metadata>();
  std::vector<std::pair<std::int64_t, std::string>> places;
  for (const auto& [name, value] : json.items()) {
    if (name != "__metadata__") places.emplace_back(value.at("data_offsets").at(0).get<std::int64_t>(), name);
  }
  std::sort(places.begin(), places.end());
  std::int64_t end = 0;
  for (const auto& [begin, name] : places) {
    const auto& value = json.at(name);
    if (value.at("dtype") != "F32") refuse(fmt::format("{} is of type {}", name, value.at("dtype").dump()));
    const std::optional<std::int64_t> elements = elements_of(value.at("shape"), file_bytes_);
    const auto& offsets = value.at("data_offsets");
    const std::int64_t place = end;
    if (elements) end += *elements * std::int64_t{sizeof(float)};
    if (!elements || offsets != nlohmann::json::array({place, end})) {
      refuse(fmt::format("the place of {} does not fit its shape", name));
    }
    entries_.push_back({name, *elements, place});
  }
  if (file_bytes_ - data_begin_ == end) return;
  refuse(fmt::format("it has {} bytes of data where its header declares {}", file_bytes_ - data_begin_, end));
}

void SafetensorsFile::refuse(const std::string& what) const {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is no good checkpoint: {}", file_.string(), what), 0,
              file_.string());
}

const std::string& SafetensorsFile::required(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) refuse(fmt::format("it has no {}: ddbench did not write it", key));
  return found->second;
}

void SafetensorsFile::read_at(std::int64_t begin, void* destination, std::int64_t bytes) const {
  char* at = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_.get(), at, static_cast<std::size_t>(bytes), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse(got == 0 ? "it is cut short" : std::generic_category().message(errno));
    at += got;
    begin += got;
    bytes -= got;
  }
}

std::string SafetensorsFile::read_at(std::int64_t begin, std::int64_t bytes) const {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  read_at(begin, text.data(), bytes);
  return text;
}

void SafetensorsFile::check_data() const {
  constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
  std::vector<char> piece(kPieceBytes);
  Checksum checksum(metadata_);
  for (const Entry& entry : entries_) {
    checksum.add(entry.name);
    const std::int64_t bytes = entry.elements * std::int64_t{sizeof(float)};
    for (std::int64_t done = 0; done < bytes; done += kPieceBytes) {
      const std::int64_t size = std::min(kPieceBytes, bytes - done);
      read_at(data_begin_ + entry.begin + done, piece.data(), size);
      checksum.add(piece.data(), size);
    }
  }
  if (checksum.text() != required(kChecksum)) refuse("it is damaged: its checksum is another");
}

void SafetensorsFile::read(const std::vector<NamedTensor>& tensors, const std::function<void()>& read_one) const {
  read_into(tensors, [&](std::size_t i) { return tensors[i].tensor.data; }, [&](std::size_t, const void*) { read_one(); });
}

void SafetensorsFile::read_each(const std::vector<NamedTensor>& tensors,
                                const std::function<void(std::size_t tensor, const void* data)>& take) const {
  std::vector<std::byte> memory;
  const auto place = [&](std::size_t i) {
    memory.resize(static_cast<std::size_t>(tensors[i].tensor.bytes()));
    return static_cast<void*>(memory.data());
  };
  read_into(tensors, place, take);
}

template <typename PlaceOf, typename Take>
void SafetensorsFile::read_into(const std::vector<NamedTensor>& tensors, const PlaceOf& place_of, const Take& take) const {
  if (tensors.size() != entries_.size()) {
    refuse(fmt::format("it has {} tensors where this run has {}", entries_.size(), tensors.size()));
  }
  Checksum checksum(metadata_);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (entries_[i].name != name || entries_[i].elements != tensor.elements()) {
      refuse(fmt::format("it has {} of {} numbers where this run has {} of {}", entries_[i].name,
                         entries_[i].elements, name, tensor.elements()));
    }
    checksum.add(name);
    void* const data = place_of(i);
    read_at(data_begin_ + entries_[i].begin, data, tensor.bytes());
    checksum.add(data, tensor.bytes());
    take(i, data);
  }
  if (checksum.text() != required(kChecksum)) refuse("it is damaged: its checksum is another");
}

}  // namespace ddbench::ddp
