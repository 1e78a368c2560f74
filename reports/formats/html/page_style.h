#pragma once

#include <string>
#include <string_view>

namespace ddbench::reports::html {

/// The style sheet of a report, figures included.
std::string page_css();

/// The script that sorts tables. content_security_policy() allows only this one, by its hash.
std::string_view page_script();

}  // namespace ddbench::reports::html
