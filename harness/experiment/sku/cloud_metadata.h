#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/measured.h"

namespace ddbench::experiment {

enum class Cloud { kNone, kAzure, kAws, kGcp };

/// The cloud of this machine, according to its firmware (`root`/sys/class/dmi/id). Sends no request.
Cloud cloud_of_this_machine(const std::filesystem::path& root = "/");

/// Environment variable with another address of the metadata service than the cloud's: "http://127.0.0.1:8000" asks there, as
/// Azure's service is asked, on whatever machine.
inline constexpr const char* kMetadataVariable = "DDBENCH_METADATA_URL";

/// How long an answer may take. Another service than the cloud's is that of a test, on however busy a machine.
inline std::chrono::seconds metadata_timeout() {
  const char* const other = std::getenv(kMetadataVariable);
  return std::chrono::seconds(other == nullptr || *other == '\0' ? 1 : 10);
}

/// The size of this machine as the metadata service of its cloud names it ("Standard_ND96asr_v4"). Missing with the reason where
/// this is no machine of a cloud, libcurl is not there, or no answer came in `timeout`. Does not throw; takes no longer than
/// `timeout`, and nothing on machines that are none of a cloud.
/// Azure: learn.microsoft.com/azure/virtual-machines/instance-metadata-service. AWS: IMDSv2. Google: machine-type.
Measured<std::string> sku_from_metadata(std::chrono::milliseconds timeout = metadata_timeout(),
                                        const std::filesystem::path& root = "/");

}  // namespace ddbench::experiment
