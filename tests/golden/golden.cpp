#include "golden.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace ddbench::golden {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void write_file(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines between the common beginning and the common end.
std::string difference(const std::string& expected, const std::string& actual) {
  const std::vector<std::string> want = lines_of(expected);
  const std::vector<std::string> got = lines_of(actual);
  std::size_t same = 0;
  while (same < std::min(want.size(), got.size()) && want[same] == got[same]) ++same;
  std::size_t tail = 0;
  while (tail + same < std::min(want.size(), got.size()) &&
         want[want.size() - 1 - tail] == got[got.size() - 1 - tail]) {
    ++tail;
  }
  std::string text = "from line " + std::to_string(same + 1) + ":\n";
  for (std::size_t i = same; i < want.size() - tail; ++i) text += "- " + want[i] + "\n";
  for (std::size_t i = same; i < got.size() - tail; ++i) text += "+ " + got[i] + "\n";
  return text;
}

}  // namespace

testing::AssertionResult matches_golden(const std::string& name, const std::string& actual) {
  const fs::path golden = fs::path(DDBENCH_GOLDEN_DIR) / name;
  const char* update = std::getenv("DDBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    write_file(golden, actual);
    return testing::AssertionSuccess();
  }
  const std::string expected = content_of(golden);
  if (expected == actual) return testing::AssertionSuccess();
  const fs::path written = fs::path(DDBENCH_GOLDEN_ACTUAL_DIR) / (name + ".actual");
  write_file(written, actual);
  return testing::AssertionFailure() << "differs from " << golden.string() << " (now in " << written.string()
                                     << "; DDBENCH_UPDATE_GOLDEN=1 takes it over), "
                                     << difference(expected, actual);
}

}  // namespace ddbench::golden
