#pragma once

#include <string>
#include <string_view>

namespace ddbench::reports {

// Makes text that users, hosts and failing programs put into names, tags and messages safe, one function per
// format. Every writer of this folder passes all such text through one of these functions.

/// Valid UTF-8 on one line: line ends and other control characters, invisible and direction-changing
/// characters and bytes that are not valid UTF-8 are shown as \n, \x1b, \u{202e}. All other functions build
/// on this one; for a terminal it is enough.
std::string visible(std::string_view text);

/// For HTML and SVG, between tags and in double-quoted attributes.
std::string html_text(std::string_view text);

/// One segment of an address's path, or one value of its query: anything but letters, digits and -._~ is %-encoded (RFC 3986).
std::string url_segment(std::string_view text);

/// Running text of GitHub and GitLab Markdown: the result has no markup, HTML, link, mention or issue
/// reference.
std::string markdown_text(std::string_view text);
/// The same as a code span, for identifiers; safe in a table's cell.
std::string markdown_code(std::string_view text);

/// One field of a CSV file (RFC 4180). A text that a spreadsheet would take for a formula gets a leading
/// apostrophe.
std::string csv_field(std::string_view text);

/// A JSON string with its quotes; also a double-quoted scalar of YAML.
std::string json_string(std::string_view text);

/// The first `max_chars` characters; if there are more, the last is replaced by an ellipsis. Never splits a
/// character.
std::string shortened(std::string_view utf8, std::size_t max_chars);
std::size_t char_count(std::string_view utf8);

}  // namespace ddbench::reports
