#include "harness/experiment/sku/cloud_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "core/error.h"
#include "harness/http/http.h"

namespace ddbench::experiment {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kLinkLocal = "http://169.254.169.254";
// Of every virtual machine of Azure, and of no other one of Hyper-V.
constexpr const char* kAzureAssetTag = "7783-7084-3265-9085-8269-3286-77";
constexpr std::size_t kLongestName = 64;

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// One service, asked until a point in time.
class Service {
 public:
  Service(std::string base, std::chrono::milliseconds timeout)
      : client_(http::make_client()), base_(std::move(base)), end_(Clock::now() + timeout) {}

  std::string ask(const std::string& path, const std::string& header, const char* method = "GET") {
    http::Request request;
    request.method = method;
    request.url = base_ + path;
    request.headers = {header};
    request.uses_proxy = false;
    request.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    if (request.timeout.count() <= 0) throw Error(ErrorCode::kEnvironment, request.url + ": no answer in time");
    const http::Response response = client_->send(request);
    if (response.status != 200)
      throw Error(ErrorCode::kEnvironment, fmt::format("{}: HTTP status {}", request.url, response.status));
    return response.body;
  }

 private:
  std::unique_ptr<http::Client> client_;
  std::string base_;
  Clock::time_point end_;
};

std::string ask(Cloud cloud, const std::string& base, std::chrono::milliseconds timeout) {
  Service service(base, timeout);
  if (cloud == Cloud::kAws) {
    const std::string token = service.ask("/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 60", "PUT");
    return service.ask("/latest/meta-data/instance-type", "X-aws-ec2-metadata-token: " + token);
  }
  if (cloud == Cloud::kGcp) {
    const std::string type = service.ask("/computeMetadata/v1/instance/machine-type", "Metadata-Flavor: Google");
    return type.substr(type.rfind('/') + 1);  // "projects/123/machineTypes/a3-highgpu-8g"
  }
  return service.ask("/metadata/instance/compute/vmSize?api-version=2021-02-01&format=text", "Metadata: true");
}

/// The service's answer is a name, or useless.
bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

}  // namespace

Cloud cloud_of_this_machine(const std::filesystem::path& root) {
  const std::filesystem::path dmi = root / "sys/class/dmi/id";
  if (first_line(dmi / "chassis_asset_tag") == kAzureAssetTag) return Cloud::kAzure;
  const std::string vendor = first_line(dmi / "sys_vendor");
  if (vendor == "Amazon EC2") return Cloud::kAws;
  return vendor == "Google" ? Cloud::kGcp : Cloud::kNone;
}

Measured<std::string> sku_from_metadata(std::chrono::milliseconds timeout, const std::filesystem::path& root) {
  using Name = Measured<std::string>;
  const char* const other = std::getenv(kMetadataVariable);
  const bool has_other = other != nullptr && *other != '\0';
  const Cloud cloud = has_other ? Cloud::kAzure : cloud_of_this_machine(root);
  if (cloud == Cloud::kNone) return Name::missing("this is no machine of a cloud that ddbench knows");
  try {
    const std::string name = ask(cloud, has_other ? other : kLinkLocal, timeout);
    return is_name(name) ? Name(name) : Name::missing("the metadata service named no machine size");
  } catch (const Error& error) {
    return Name::missing(error.message());
  }
}

}  // namespace ddbench::experiment
