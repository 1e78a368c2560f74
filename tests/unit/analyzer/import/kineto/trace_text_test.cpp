#include "analyzer/import/kineto/trace_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "analyzer/import/kineto/event_parser.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::imports {
namespace {

struct Pieces {
  std::map<std::string, std::string> members;
  std::string events;
  int pieces = 0;
};

Pieces pieces_of(const std::string& text) {
  const test::TemporaryDirectory directory;
  const auto file = directory / "trace.json";
  std::ofstream(file) << text;
  FileBytes bytes(file);
  TraceText trace(bytes);
  Pieces found;
  std::string_view key;
  JsonPiece piece;
  for (TraceText::What what; (what = trace.next(key, piece)) != TraceText::What::kEnd;) {
    if (what == TraceText::What::kMember) {
      found.members.emplace(key, piece.text);
      continue;
    }
    EXPECT_EQ(piece.text.front(), '[');
    EXPECT_EQ(piece.text.back(), ']');
    if (++found.pieces > 1) found.events += ",";
    found.events += piece.text.substr(1, piece.text.size() - 2);
  }
  return found;
}

TEST(TraceText, GivesMembersAndEventsWhateverTheirStringsHold) {
  const std::string events = R"({"name": "a]}\"[{,", "args": {"list": [1, [2]]}}, {"name": "\\"})";
  const Pieces pieces = pieces_of(R"({"first": {"x": "},"}, "traceEvents": [)" + events + R"(], "last": 17})");
  EXPECT_EQ(pieces.events, events);
  EXPECT_EQ(pieces.members.at("first"), R"({"x": "},"})");
  EXPECT_EQ(pieces.members.at("last"), "17");
  EXPECT_EQ(pieces_of("[" + events + "]").events, events);
  EXPECT_EQ(pieces_of(R"({"traceEvents": []})").pieces, 0);
}

TEST(TraceText, DividesWhatIsLargerThanItsBufferBetweenEvents) {
  std::string events;
  std::size_t count = 0;
  for (; events.size() < 3'000'000; ++count) {
    events += (count == 0 ? "" : ",\n ") + std::string(R"({"name": "\\\" [)") + std::string(count % 977, 'x') + R"("})";
  }
  const Pieces pieces = pieces_of("{\"traceEvents\": [" + events + "]}");
  EXPECT_GT(pieces.pieces, 3);
  // White space around a separator belongs to no event.
  std::string got = pieces.events;
  std::string wanted = events;
  std::erase_if(got, [](char c) { return c == '\n' || c == ' '; });
  std::erase_if(wanted, [](char c) { return c == '\n' || c == ' '; });
  EXPECT_EQ(got, wanted);
}

TEST(TraceText, ASeparatorMayBeTheLastThingInTheBuffer) {
  // Events of 16 bytes behind one of each length: the buffer ends once at each place of an event.
  for (std::size_t length = 1; length <= 16; ++length) {
    std::string events = R"({"name":")" + std::string(length, 'x') + R"("})";
    while (events.size() < 400'000) events += R"(,{"name":"1234"})";
    EXPECT_EQ(pieces_of("[" + events + "]").events, events) << length;
  }
}

TEST(TraceText, NamesThePlaceWhereATraceEndsTooEarly) {
  const std::string whole = R"({"a": 1, "traceEvents": [{"name": "x"}, {"name": "y"}], "b": {}})";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_ERROR(ErrorCode::kBadInput, "trace.json, byte ", pieces_of(whole.substr(0, size)));
  }
  EXPECT_ERROR(ErrorCode::kBadInput, "the file is empty", pieces_of("  \n"));
  EXPECT_ERROR(ErrorCode::kBadInput, "this is no Chrome trace", pieces_of("step 1, step 2"));
}

TEST(TraceEvent, TimesAreExactToTheNanosecond) {
  EXPECT_EQ(nanoseconds_of_microseconds("1682725898236567.123"), 1'682'725'898'236'567'123);
  EXPECT_EQ(nanoseconds_of_microseconds("0.001"), 1);
  EXPECT_EQ(nanoseconds_of_microseconds("12.3456"), 12'345);
  EXPECT_EQ(nanoseconds_of_microseconds("-1.5"), -1'500);
  EXPECT_EQ(nanoseconds_of_microseconds("1.5e3"), 1'500'000);
  for (const char* const text : {"", "x", "1e30", "99999999999999999999", "1.2.3", "\"7\"", "nan"}) {
    EXPECT_EQ(nanoseconds_of_microseconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ddbench::imports
