#include "core/facts/facts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace ddbench {
namespace {

std::string document() {
  std::string text = R"(# Facts

What a run reports about itself beside its figures. `ddbench show --json` has them under `environment.facts`, as text.
A `*` stands for a part of its own: `gpu.*.model` is `gpu.0.model`. What a machine counted while the run was on has
`counted.` before its key, and `counted.nodeN.` where there are several machines. A value that could not be measured is
`unknown: REASON` or `not measured: REASON`.

This file is written by `DDBENCH_UPDATE_GOLDEN=1 record_test` from `core/facts/fact_table.h`.

| key | type | unit | meaning |
|---|---|---|---|
)";
  for (const FactSpec& spec : kFactTable)
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", spec.key, to_string(spec.type), spec.unit, spec.description);
  return text;
}

TEST(Facts, AreListedInTheDocumentation) {
  const std::string file = DDBENCH_DOCS_DIR "/facts.md";
  if (std::getenv("DDBENCH_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << document();
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  EXPECT_EQ(content.str(), document()) << "DDBENCH_UPDATE_GOLDEN=1 writes it";
}

TEST(Facts, EachKeyIsThereOnceWithWhatItMeans) {
  std::set<std::string_view> keys;
  for (const FactSpec& spec : kFactTable) {
    EXPECT_TRUE(keys.insert(spec.key).second) << spec.key;
    EXPECT_FALSE(spec.description.empty()) << spec.key;
    EXPECT_EQ(find_fact(spec.key), &spec) << spec.key;
  }
}

TEST(Facts, KeepTheirTextForm) {
  Facts facts;
  set_fact(facts, fact_key<"goodput">, 0.98765432);
  set_fact(facts, fact_key<"cpu.cores">, 16);
  set_fact(facts, fact_key<"cpu.model">, "Fast 9000");
  set_fact(facts, fact_key<"gloo.trylock_patch">, true);
  set_fact(facts, fact_key<"nccl.transport">, std::vector<std::string>{"socket", "shm"});
  set_fact(facts, fact_key<"analysis.compute_slowdown_percent">, FactEstimate{12.3, 8, 16.9});
  set_fact(facts, fact_key<"cpu.stolen_percent">, Measured<double>::missing("no /proc/stat"));
  set_fact(facts, fact_key_of<"gpu.*.model">(3), "H200");
  set_fact(facts, counted(fact_key<"gpu.energy_j">), 1234567.0);
  EXPECT_EQ(facts, (Facts{{"goodput", "0.9877"},
                          {"cpu.cores", "16"},
                          {"cpu.model", "Fast 9000"},
                          {"gloo.trylock_patch", "on"},
                          {"nccl.transport", "socket, shm"},
                          {"analysis.compute_slowdown_percent", "12.3 8 16.9"},
                          {"cpu.stolen_percent", "not measured: no /proc/stat"},
                          {"gpu.3.model", "H200"},
                          {"counted.gpu.energy_j", "1.23457e+06"}}));
}

TEST(Facts, AreReadAsWhatTheyAre) {
  const Facts facts{{"goodput", "0.5"},
                    {"cpu.cores", "unknown: no affinity"},
                    {"gpu.count", "many"},
                    {"gloo.trylock_patch", "off"},
                    {"cupti.records", "-9223372036854775808"},
                    {"nccl.unknown_kernels", "a, b"},
                    {"analysis.compute_slowdown_percent", "12.3 8 16.9"},
                    {"note.1", "unknown: a note"}};
  EXPECT_EQ(*get_fact(facts, fact_key<"goodput">), 0.5);
  EXPECT_EQ(get_fact(facts, fact_key<"cpu.cores">).reason(), "no affinity");
  EXPECT_EQ(get_fact(facts, fact_key<"gpu.count">).reason(), "many");
  EXPECT_EQ(get_fact(facts, fact_key<"memory.bytes">).reason(), "not reported");
  EXPECT_EQ(get_fact(facts, fact_key<"cupti.records">).reason(), "-9223372036854775808");  // the difference of two could overflow
  EXPECT_FALSE(*get_fact(facts, fact_key<"gloo.trylock_patch">));
  EXPECT_EQ(*get_fact(facts, fact_key<"nccl.unknown_kernels">), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(get_fact(facts, fact_key<"analysis.compute_slowdown_percent">)->high, 16.9);
  EXPECT_EQ(*get_fact(facts, fact_key_of<"note.*">(1)), "unknown: a note");
}

TEST(Facts, CountsOfZeroAreAbsent) {
  Facts facts{{"analysis.damaged_spans", "3"}};
  set_count(facts, fact_key<"analysis.damaged_spans">, 0u);
  EXPECT_TRUE(facts.empty());
}

TEST(Facts, WhatMachinesCountedIsFoundOnAllOfThem) {
  const Facts facts{{"counted.node0.cpu.stolen_percent", "1.5"},
                    {"counted.node1.cpu.stolen_percent", "9.0"},
                    {"counted.node2.cpu.stolen_percent", "not measured: no /proc/stat"},
                    {"cpu.stolen_percent", "50.0"}};
  EXPECT_EQ(counted_values(facts, fact_key<"cpu.stolen_percent">), (std::vector<double>{1.5, 9.0}));
  EXPECT_EQ(counted_values(Facts{{"counted.cpu.stolen_percent", "2.0"}}, fact_key<"cpu.stolen_percent">),
            std::vector<double>{2.0});
}

TEST(FindFact, KnowsPatternsAndWhatWasCounted) {
  EXPECT_EQ(find_fact("gpu.12.model")->key, "gpu.*.model");
  EXPECT_EQ(find_fact("counted.node3.gpu.0.throttled")->subject, FactSubject::kEnvironment);
  EXPECT_EQ(find_fact("counted.gpu.energy_j")->key, "gpu.energy_j");
  EXPECT_EQ(find_fact("nccl.NCCL_ALGO")->key, "nccl.NCCL_*");
  EXPECT_EQ(find_fact("nccl.all_reduce 1024 B")->key, "nccl.*");
  EXPECT_EQ(find_fact("library.libnccl.so.2")->key, "library.*");
  for (const char* key : {"", "gpu..model", "of.a.newer.version", "counted.", "library."})
    EXPECT_EQ(find_fact(key), nullptr) << key;
}

TEST(ReportedFact, ComesBackAndIsNoSpan) {
  const auto fact = reported_fact(reported(fact_key<"training.cuda_graph">, "off: asked for"));
  ASSERT_TRUE(fact);
  EXPECT_EQ(fact->key, "training.cuda_graph");
  EXPECT_EQ(fact->text, "off: asked for");
  EXPECT_EQ(reported_fact(reported(fact_key_of<"nccl.NCCL_*">("ALGO"), "Ring"))->key, "nccl.NCCL_ALGO");
  for (const char* name : {"linear", "all_reduce", "user: step", ": "})
    EXPECT_FALSE(reported_fact(name)) << name;
}

}  // namespace
}  // namespace ddbench
