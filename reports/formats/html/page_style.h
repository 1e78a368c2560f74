#pragma once

#include <string>
#include <string_view>

namespace ddbench::reports::html {

/// The style sheet of a report, figures included.
std::string page_css();

/// The script that sorts tables, and its hash for the Content-Security-Policy, which allows only this script.
std::string_view page_script();
std::string_view page_script_sha256();

}  // namespace ddbench::reports::html
