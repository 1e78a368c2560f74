#include "harness/launch/jobfile/yaml.h"

#include <gtest/gtest.h>

namespace ddbench::job {
namespace {

TEST(Yaml, TextsThatCouldBeSomethingElseAreQuoted) {
  for (const char* text : {"true", "No", "null", "1.5",  "2026-11-21", "",    "-",  "a: b", "#x", "x #y",
                           "&a",   "*a", "~",    "0x1f", "y",          "a,b", "[",  "{",    "%",  "@",
                           "`",    "'",  "\"",   "!t",   "|",          ">",   "a:", " a",   "a "}) {
    EXPECT_EQ(yaml({{"k", text}}), "k: " + Document(text).dump() + "\n");
  }
  for (const char* text : {"node0", "kubeflow.org/v1", "nvidia", "a_b-c.d"}) {
    EXPECT_EQ(yaml({{"k", text}}), std::string("k: ") + text + "\n");
  }
}

TEST(Yaml, NestsMappingsAndSequences) {
  const Document document = {
      {"a", {{"b", 1}, {"c", Document::array({"x", Document{{"d", true}, {"e", "f"}}})}}},
      {"g", Document::array()},
      {"h", Document::object()}};
  EXPECT_EQ(yaml(document), "a:\n  b: 1\n  c:\n    - x\n    - d: true\n      e: f\ng: []\nh: {}\n");
}

TEST(Yaml, LinesBecomeBlocksOnlyWhereTheyReadBackTheSame) {
  EXPECT_EQ(yaml({{"k", "a\n\n  b\n"}}), "k: |\n  a\n\n    b\n");
  EXPECT_EQ(yaml({{"k", "a\nb"}}), "k: |-\n  a\n  b\n");
  EXPECT_EQ(yaml({{"k", " a\nb"}}), "k: \" a\\nb\"\n");
  EXPECT_EQ(yaml({{"k", "a\n\tb\x01"}}), "k: \"a\\n\\tb\\u0001\"\n");
  EXPECT_EQ(yaml({{"k", "a\n\n"}}), "k: \"a\\n\\n\"\n");
}

}  // namespace
}  // namespace ddbench::job
