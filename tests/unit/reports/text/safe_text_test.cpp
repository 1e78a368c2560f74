#include "reports/text/safe_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "hostile_names.h"
#include "reports/text/utf8.h"

namespace ddbench::reports {
namespace {

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid) return false;
    text.remove_prefix(c.length);
  }
  return true;
}

TEST(Utf8, KnowsWhatIsWellFormed) {
  EXPECT_TRUE(is_utf8("aß€🚀"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Visible, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "plain", "ünïcödé 名前 🚀", "a/b c:d=e", "4 nodes × 4 GPUs"})
    EXPECT_EQ(visible(text), text);
}

TEST(Visible, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(visible("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(visible("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(visible("\u202e"), "\\u{202e}");
  EXPECT_EQ(visible("\xff"), "\\xff");
  EXPECT_EQ(visible(std::string("\0", 1)), "\\x00");
}

TEST(Visible, IsCleanAndIdempotentOnRandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string once = visible(text);
    EXPECT_TRUE(is_utf8(once));
    EXPECT_FALSE(has_control(once));
    EXPECT_EQ(visible(once), once);
    EXPECT_EQ(nlohmann::json::parse(json_string(once)).get<std::string>(), once);
    EXPECT_TRUE(nlohmann::json::accept(json_string(text)));
  }
}

TEST(HtmlText, LeavesNoMarkup) {
  EXPECT_EQ(html_text("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  for (const std::string& name : test::hostile_names())
    EXPECT_EQ(html_text(name).find_first_of("<>\"'"), std::string::npos);
}

TEST(JsonString, KeepsEveryCharacterOfValidText) {
  for (const std::string& name : test::hostile_names()) {
    if (is_utf8(name)) {
      EXPECT_EQ(nlohmann::json::parse(json_string(name)).get<std::string>(), name);
    }
  }
}

TEST(CsvField, QuotesAndDisarmsFormulas) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(csv_field("  @x"), "\"'  @x\"");
  EXPECT_EQ(csv_field("-rf"), "\"'-rf\"");
  for (const std::string& name : test::hostile_names()) {
    const std::string field = csv_field(name);
    const std::string bare = field.size() > 1 && field.front() == '"' ? field.substr(1) : field;
    const std::size_t first = bare.find_first_not_of(' ');
    if (first != std::string::npos) {
      EXPECT_EQ(std::string_view("=+-@|%\t").find(bare[first]), std::string_view::npos) << field;
    }
    EXPECT_FALSE(has_control(field));
  }
}

TEST(MarkdownText, NeutralizesMarkupMentionsAndAddresses) {
  EXPECT_EQ(markdown_text("4.5 ms, veth"), "4.5 ms, veth");
  EXPECT_EQ(markdown_text("a_b*c*"), "a\\_b\\*c\\*");
  EXPECT_EQ(markdown_text("@team"), "@<!-- -->team");
  EXPECT_EQ(markdown_text("#12"), "\\#<!-- -->12");
  EXPECT_EQ(markdown_text("1. item"), "1\\. item");
  EXPECT_EQ(markdown_text("http://x"), "http:<!-- -->//x");
  EXPECT_EQ(markdown_text("<b>"), "\\<b\\>");
}

TEST(MarkdownCode, FencesAnyText) {
  EXPECT_EQ(markdown_code("name"), "`name`");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`a"), "`` `a ``");
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_code(""), "");
}

TEST(UrlSegment, EncodesAllThatMeansSomethingInAnAddress) {
  EXPECT_EQ(url_segment("run/4f-3.a_~"), "run%2F4f-3.a_~");
  EXPECT_EQ(url_segment("a b?c#d%\"<&é\n"), "a%20b%3Fc%23d%25%22%3C%26%C3%A9%0A");
}

TEST(Shortened, NeverCutsACharacter) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(shortened("🚀🚀🚀", 2), "🚀…");
}

}  // namespace
}  // namespace ddbench::reports
