#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ddbench::job {

using Document = nlohmann::ordered_json;

/// YAML 1.2 in block style that reads back as `document`, which is an object. Texts that a reader could take
/// for something else are quoted as JSON, which YAML includes; those of several lines are literal blocks.
std::string yaml(const Document& document);

/// The text as lines of a comment, for YAML and shells.
std::string comment(const std::string& text);

}  // namespace ddbench::job
