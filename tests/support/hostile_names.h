#pragma once

#include <string>
#include <vector>

namespace ddbench::test {

/// Names that a user, a host or an attacker could give a run, and that must come out harmless in every
/// format.
inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kNames = {
      "<script>alert(1)</script>",
      "\"><img src=x onerror=alert(1)>",
      "'; DROP TABLE run; --",
      "</title></style></svg><b>",
      "]]><!--",
      "javascript:alert(1)",
      "line one\nline two\r\nline three",
      "tab\tand\vbell\a",
      "\x1b[31mred\x1b[0m \x1b]0;title\x07",
      "../../../../etc/passwd",
      "/absolute/../path",
      "..",
      ".",
      "-rf *",
      "$(touch x) `touch y` %s %n",
      "=HYPERLINK(\"http://evil.example\",\"click\")",
      "+1+1|cmd /C calc",
      "@SUM(A1:A9)",
      "-2+3",
      "\t=1+1",
      "key: value\n- item: &anchor *alias !!python/object",
      "\"quoted\" 'twice' \\ back",
      "a,b;c|d",
      "| table | cell |",
      "```\nfence\n```",
      "`one` ``two``",
      "# heading\n* list\n1. item",
      "[link](javascript:alert(1)) ![image](http://evil.example/x.png)",
      "@everyone fixes #1 http://evil.example www.evil.example",
      "<!-- comment --> &lt; &#x41;",
      std::string("nul\0byte", 8),
      "broken \xff\xfe utf-8 \xc3",
      "\xed\xa0\x80 surrogate",
      "\u202egnp.exe\u202c right-to-left",
      "zero\u200bwidth\ufeff",
      "line\u2028separator",
      "名前 ναί имя 🚀",
      std::string(5000, 'x'),
      "",
      " ",
  };
  return kNames;
}

}  // namespace ddbench::test
