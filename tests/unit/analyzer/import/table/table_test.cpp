#include "analyzer/import/table/table.h"

#include <gtest/gtest.h>

#include "core/run_case/program_case.h"
#include "expect_error.h"

namespace ddbench::imports {
namespace {

std::vector<ImportedRun> read(const std::string& text, const TableOptions& options = {}) {
  std::vector<ImportedRun> runs;
  read_table(text, "t.csv", options, [&](ImportedRun&& run) { runs.push_back(std::move(run)); });
  return runs;
}

TEST(Table, FieldsOfTheCaseMetricsAndTags) {
  const auto runs = read(
      "gpus,nodes,workload,batch_per_gpu,network,sku,throughput,lr,tags.team,Cluster,workload_options."
      "hidden\n"
      "16,2,resnet50,32,infiniband,p4d.24xlarge,4928.5,0.1,vision,blue,512\n");
  ASSERT_EQ(runs.size(), 1u);
  const store::RunRecord& run = runs[0].run;
  EXPECT_EQ(run.run_case.nodes, 2);
  EXPECT_EQ(run.run_case.gpus_per_node, 8);
  EXPECT_EQ(work_name(run.run_case.work), "resnet50");
  EXPECT_EQ(run.run_case.batch_per_gpu, 32);
  EXPECT_EQ(run.run_case.scaling, ScalingMode::kWeak);
  EXPECT_DOUBLE_EQ(run.run_case.lr, 0.1);
  EXPECT_EQ(run.run_case.sku, "p4d.24xlarge");
  EXPECT_EQ(run.run_case.tags.at("team"), "vision");
  EXPECT_EQ(run.run_case.tags.at("Cluster"), "blue");
  EXPECT_EQ(work_options(run.run_case.work).at("hidden"), "512");
  EXPECT_EQ(run.environment.network, "infiniband");
  EXPECT_EQ(run.provenance, ProvenanceSet{Provenance::kImported});
  EXPECT_EQ(run.state, store::RunState::kDone);
  EXPECT_EQ(run.environment.facts.at("import.line"), "2");
  EXPECT_NEAR(static_cast<double>(runs[0].steps.at(0).duration_ns), 16 * 32 / 4928.5 * 1e9, 1);
}

TEST(Table, HeadingsOfPublishedTablesAreKnownByOtherWords) {
  const auto runs = read("Num GPUs,node_num,batch size per GPU,images/sec,tensor-parallel,Model\n16,2,32,5120,8,resnet\n");
  const RunCase& run_case = runs[0].run.run_case;
  EXPECT_EQ(run_case.nodes, 2);
  EXPECT_EQ(run_case.gpus_per_node, 8);
  EXPECT_EQ(run_case.batch_per_gpu, 32);
  EXPECT_EQ(run_case.strategy_options.at("tensor_parallel"), "8");
  EXPECT_EQ(run_case.tags.at("Model"), "resnet");
  EXPECT_EQ(runs[0].run.environment.facts.at("import.sample_unit"), "images");
  const auto tokens = read("world_size,GPUs per node,tokens_per_second_per_gpu\n16,4,100\n");
  EXPECT_EQ(tokens[0].run.run_case.nodes, 4);
  EXPECT_EQ(tokens[0].steps[0].duration_ns, 10'000'000);
  EXPECT_EQ(read("Throughput (img/sec),#GPUs,iteration time (ms)\n400,4,10\n")[0].run.run_case.world_size(), 4);
  // The column of that name counts, and what else would mean it is a tag.
  const auto both = read("gpus,world_size,step_time_ms\n8,4,1\n");
  EXPECT_EQ(both[0].run.run_case.world_size(), 8);
  EXPECT_EQ(both[0].run.run_case.tags.at("world_size"), "4");
  // A column that the user renames is what it is renamed to.
  EXPECT_EQ(read("num_gpus,step_time_ms\n8,1\n", {{{"num_gpus", "gpus_per_node"}}, {}})[0].run.run_case.gpus_per_node, 8);
}

TEST(Table, RowsOfOneCaseKeepTheirOwnLabels) {
  const auto runs = read("name,gpus,step_time_ms,Cluster,tags.team\none,8,2.5,red,a\n\xff two,8,2.6,,b\xfe\n,8,2.7,,\nfour,4,2,,\n");
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].run.run_case.name, "one");
  EXPECT_EQ(runs[0].run.run_case.tags, (std::map<std::string, std::string>{{"Cluster", "red"}, {"team", "a"}}));
  EXPECT_EQ(runs[1].run.run_case.name, "\xEF\xBF\xBD two") << "as every case that is read from JSON has it";
  EXPECT_EQ(runs[1].run.run_case.tags, (std::map<std::string, std::string>{{"team", "b\xEF\xBF\xBD"}}));
  EXPECT_EQ(runs[2].run.run_case.name, "");
  EXPECT_EQ(runs[2].run.run_case.tags, (std::map<std::string, std::string>{}));
  EXPECT_EQ(case_key(runs[0].run.run_case), case_key(runs[1].run.run_case));
  EXPECT_EQ(case_key(runs[0].run.run_case), case_key(runs[2].run.run_case));
  EXPECT_NE(case_key(runs[0].run.run_case), case_key(runs[3].run.run_case));
}

TEST(Table, WhatNoColumnStatesIsNotKnown) {
  const RunCase none = read("gpus,step_time_ms,precision\n8,2.5,\n")[0].run.run_case;
  for (const std::string& field : {none.device, none.backend, none.strategy, none.precision, none.optimizer}) EXPECT_EQ(field, "");
  EXPECT_EQ(work_name(none.work), "unnamed");
  EXPECT_EQ(work_name(read("gpus,step_time_ms,workload\n8,2.5,resnet50\n")[0].run.run_case.work), "resnet50");
  const RunCase some = read("gpus,step_time_ms,device,precision,optimizer\n8,2.5,cuda,fp16,adamw\n")[0].run.run_case;
  EXPECT_EQ(some.device, "cuda");
  EXPECT_EQ(some.precision, "fp16");
  EXPECT_EQ(some.optimizer, "adamw");
  EXPECT_EQ(some.backend, "");
}

TEST(Table, ABatchThatNoColumnStatesIsNotKnown) {
  const auto is_known = [](const std::string& text) { return has_known_batch(read(text)[0].run.run_case); };
  const auto says_step = [](const std::string& text) { return read(text)[0].run.environment.facts.count("import.step_time") == 0; };
  EXPECT_FALSE(is_known("gpus,throughput\n8,100\n"));
  EXPECT_FALSE(says_step("gpus,throughput\n8,100\n")) << "how long a step takes would follow from the batch";
  EXPECT_FALSE(says_step("gpus,throughput,step_time_ms\n8,100,2\n")) << "no step has 0.2 samples: the throughput counts";
  const auto both = read("gpus,throughput,step_time_ms\n8,4000,10\n")[0];
  EXPECT_EQ(both.run.environment.facts.count("import.step_time"), 0u);
  EXPECT_EQ(both.run.environment.facts.at("import.samples_per_step"), "40");
  EXPECT_EQ(both.steps[0].duration_ns, 10'000'000);
  const auto fast = read("gpus,throughput\n1,70000000\n")[0];
  EXPECT_EQ(fast.run.environment.facts.at("import.samples_per_s"), "70000000") << "its stand-in step has whole nanoseconds";
  EXPECT_FALSE(is_known("gpus,step_time_ms\n8,2.5\n"));
  EXPECT_TRUE(says_step("gpus,step_time_ms\n8,2.5\n"));
  for (const char* text : {"gpus,batch_per_gpu,throughput\n8,1,100\n", "gpus,global_batch,throughput\n8,8,100\n"}) {
    EXPECT_TRUE(is_known(text)) << text;
    EXPECT_TRUE(says_step(text)) << text;
  }
  EXPECT_FALSE(is_known("gpus,batch_per_gpu,tokens/s\n8,32,524288\n")) << "a batch of samples, a rate of tokens";
  EXPECT_FALSE(says_step("gpus,batch_per_gpu,tokens/s\n8,32,524288\n"));
}

TEST(Table, ARunOfAReportWithoutAStepTimeHasItsThroughput) {
  const std::string header = "run_id,state,valid,provenance,workload,nodes,gpus_per_node,batch_per_gpu,step_time_ns,step_time_ci_low_ns,"
                             "samples_per_s,partition_step_ns,dropped_spans\n";
  const auto runs = read(header + "a,done,1,imported,resnet50,1,8,,,,4500,,0\nb,done,1,measured,mlp,1,2,64,2000000,,64000,,0\n"
                                  "c,done,1,measured,mlp,1,2,64,,,,,0\n");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].steps[0].duration_ns, 1'777'778);
  EXPECT_EQ(runs[0].run.environment.facts.at("import.step_time"), "not said");
  EXPECT_EQ(runs[1].steps[0].duration_ns, 2'000'000);
  EXPECT_TRUE(has_known_batch(runs[1].run.run_case));
}

TEST(Table, ARunOfAReportWithoutABatchKeepsItsThroughput) {
  const auto runs = read("run_id,state,valid,provenance,nodes,gpus_per_node,batch_per_gpu,step_time_ns,step_time_ci_low_ns,samples_per_s,"
                         "partition_step_ns,dropped_spans\n"
                         "a,done,1,imported,1,4,,550000000,,350,,0\nb,done,1,measured,1,4,32,550000000,,1,,0\n");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].steps[0].duration_ns, 550'000'000);
  EXPECT_EQ(runs[0].run.environment.facts.at("import.samples_per_step"), "192.5");
  EXPECT_EQ(runs[1].run.environment.facts.count("import.samples_per_step"), 0u) << "128 samples in 0.55 s: the step time counts";
}

TEST(Table, ThroughputsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(read("gpus,throughput,throughput_per_gpu\n4,200,50\n")[0].run.environment.facts.at("import.samples_per_s"), "200");
  for (const char* text : {"gpus,throughput,throughput_per_gpu\n4,100,50\n", "gpus,throughput,throughput_per_gpu,step_time_ms\n4,100,50,500\n",
                           "gpus,throughput,throughput_per_gpu,global_batch\n4,100,50,32\n"}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("do not agree: 50 samples/s on each of 4 GPUs are 200, not 100"), std::string::npos) << error.message();
    }
  }
}

TEST(Table, UnitsFromTheHeaderOrTheOptions) {
  EXPECT_EQ(read("step_time_ms\n2.5\n")[0].steps[0].duration_ns, 2'500'000);
  EXPECT_EQ(read("Step_Time [us]\n2.5\n")[0].steps[0].duration_ns, 2'500);
  EXPECT_EQ(read("step_time (h)\n2\n")[0].steps[0].duration_ns, 7'200'000'000'000);
  EXPECT_EQ(read("step_time\n2\n", {{}, {{"step_time", "s"}}})[0].steps[0].duration_ns, 2'000'000'000);
  EXPECT_EQ(read("p50\n2\n", {{{"p50", "step_time"}}, {{"p50", "s"}}})[0].steps[0].duration_ns,
            2'000'000'000);
  EXPECT_EQ(read("p50\n2\n", {{{"p50", "step_time_ms"}}, {}})[0].steps[0].duration_ns, 2'000'000);
  const auto images = read("gpus,throughput [images/s]\n4,400\n");
  EXPECT_EQ(images[0].run.environment.facts.at("import.sample_unit"), "images");
  EXPECT_EQ(images[0].steps[0].duration_ns, 10'000'000);  // one image per GPU and step if no batch is stated
}

TEST(Table, ThroughputOfOneGpuAndBothMetrics) {
  EXPECT_EQ(read("gpus,batch_per_gpu,throughput_per_gpu\n8,32,320\n")[0].steps[0].duration_ns, 100'000'000);
  EXPECT_EQ(read("gpus,batch_per_gpu,throughput,step_time_ms\n8,32,2560,100\n")[0].steps[0].duration_ns,
            100'000'000);
  EXPECT_ERROR(ErrorCode::kBadInput, "t.csv line 2: step time and throughput do not agree",
               read("gpus,batch_per_gpu,throughput,step_time_ms\n8,32,2560,200\n"));
}

TEST(Table, ABatchOfSamplesSaysNothingAboutARateOfTokens) {
  // The step time counts, and is not compared with a rate of something else.
  const auto timed = read("gpus,batch_per_gpu,tokens_per_second,step_time_ms\n8,32,524288,1000\n");
  EXPECT_EQ(timed[0].steps[0].duration_ns, 1'000'000'000);
  EXPECT_EQ(timed[0].run.run_case.batch_per_gpu, 32);
  EXPECT_FALSE(timed[0].run.environment.facts.contains("import.sample_unit")) << "samples are not tokens";
  // Without one, as without a batch: 8 tokens, one per GPU.
  const auto rates = read("gpus,batch_per_gpu,tokens/s\n8,32,524288\n8,64,600000\n");
  EXPECT_EQ(rates[0].steps[0].duration_ns, 15'259);
  EXPECT_EQ(rates[0].run.run_case.batch_per_gpu, 1);
  EXPECT_EQ(rates[0].run.run_case.strategy_options.at("batch_per_gpu"), "32");
  EXPECT_EQ(rates[1].run.run_case.strategy_options.at("batch_per_gpu"), "64");
  EXPECT_NE(case_key(rates[0].run.run_case), case_key(rates[1].run.run_case)) << "no repetitions of each other";
  EXPECT_EQ(rates[0].run.environment.facts.at("import.sample_unit"), "tokens");
  EXPECT_EQ(rates[0].run.environment.facts.count("note.1"), 1u);
  const auto strong = read("gpus,global_batch,throughput [tokens/s]\n1,256,1000\n16,256,15000\n");
  EXPECT_EQ(strong[1].run.run_case.scaling, ScalingMode::kWeak);
  EXPECT_EQ(strong[1].run.run_case.global_batch(), 16);
  EXPECT_EQ(strong[1].run.run_case.strategy_options.at("global_batch"), "256");
  // Of images, the batch is one.
  EXPECT_EQ(read("gpus,batch_per_gpu,images/s\n8,32,2560\n")[0].steps[0].duration_ns, 100'000'000);
}

TEST(Table, AGlobalBatchIsStrongScaling) {
  const auto runs = read("gpus,global_batch,step_time_h\n1,256,72\n16,256,5\n");
  EXPECT_EQ(runs[1].run.run_case.scaling, ScalingMode::kStrong);
  EXPECT_EQ(runs[1].run.run_case.batch_per_gpu, 16);
  EXPECT_EQ(runs[1].run.run_case.global_batch(), 256);
}

TEST(Table, GlobalBatchesThatGrowWithTheGpusAreWeakScaling) {
  const auto weak = read("gpus,global_batch,throughput\n128,768,100\n256,1536,190\n512,3072,370\n");
  for (const auto& run : weak) {
    EXPECT_EQ(run.run.run_case.scaling, ScalingMode::kWeak);
    EXPECT_EQ(run.run.run_case.batch_per_gpu, 6);
  }
  // Curves are distinguished by their tags; a note in every row does not distinguish them.
  const auto two = read(
      "model,gpus,global_batch,throughput\na,1,8,1\na,2,16,2\nb,1,64,1\nb,2,64,2\n");
  EXPECT_EQ(two[1].run.run_case.scaling, ScalingMode::kWeak);
  EXPECT_EQ(two[3].run.run_case.scaling, ScalingMode::kStrong);
  EXPECT_EQ(read("note,gpus,global_batch,throughput\nx,1,8,1\ny,2,16,2\n")[1].run.run_case.scaling,
            ScalingMode::kWeak);
  EXPECT_EQ(read("scaling,gpus,global_batch,throughput\nstrong,1,8,1\nstrong,2,16,2\n")[1].run.run_case.scaling,
            ScalingMode::kStrong);
}

TEST(Table, ModelParallelGpusShareTheBatchOfOneCopy) {
  const auto runs = read("gpus,nodes,tp,pipeline_parallel,cp,accumulation,global_batch,step_time_s\n768,96,8,6,,16,2048,2\n");
  const RunCase& run_case = runs[0].run.run_case;
  EXPECT_EQ(run_case.model_parallel(), 48);
  EXPECT_EQ(run_case.batch_per_gpu, 128);  // of each of 16 copies
  EXPECT_EQ(run_case.global_batch(), 2048);
  EXPECT_EQ(run_case.accumulate, 16);
}

TEST(Table, NodesThatATableDoesNotSayAreNotSaid) {
  EXPECT_TRUE(read("gpus,throughput\n8,100\n")[0].run.run_case.nodes_not_stated);
  EXPECT_FALSE(read("gpus,nodes,throughput\n8,1,100\n")[0].run.run_case.nodes_not_stated);
  EXPECT_FALSE(read("gpus,throughput\n1,100\n")[0].run.run_case.nodes_not_stated) << "a single GPU is on one node";
}

TEST(Table, AMalformedRowIsNamedByLineAndColumn) {
  const auto expect = [](const std::string& text, const std::string& message) {
    EXPECT_ERROR(ErrorCode::kBadInput, message, read(text));
  };
  expect("gpus,throughput\n1,100\n2,fast\n",
         "t.csv line 3: column 2 (throughput): \"fast\" is not a number above 0");
  expect("gpus,throughput\n1,nan\n", "\"nan\" is not a number above 0");
  expect("gpus,throughput\n1,inf\n", "\"inf\"");
  expect("gpus,throughput\n1,-3\n", "\"-3\"");
  expect("gpus,throughput\n1,1e400\n", "\"1e400\"");
  expect("gpus,throughput\n1.5,100\n", "column 1 (gpus): \"1.5\" is not a whole number above 0");
  expect("gpus,throughput\n0,100\n", "column 1 (gpus)");
  expect("gpus,throughput\n99999999999999999999,100\n", "column 1 (gpus)");
  expect("seed,throughput\nx,100\n", "column 1 (seed): \"x\" is not a whole number");
  expect("lr,throughput\n-1,100\n", "line 2: lr is -1");
  expect("scaling,throughput\nsideways,100\n", "line 2: scaling is \"sideways\"");
  expect("gpus,nodes,throughput\n5,2,100\n", "line 2: 5 GPUs are not 2 node(s) of 2");
  expect("gpus,global_batch,throughput\n3,256,100\n",
         "line 2: a global batch of 256 cannot be shared by 3 GPUs");
  expect("gpus,tp,throughput\n6,4,100\n", "line 2: 6 GPUs cannot hold whole copies of a model that is spread over 4");
  expect("gpus,tp,throughput\n8,0,100\n", "column 2 (tp)");
  expect("gpus,tp,global_batch,throughput\n8,2,7,100\n", "7 cannot be shared by 4 copies of the model");
  expect("gpus,batch_per_gpu,global_batch,throughput\n2,32,128,100\n", "is 64 a GPU, not 32");
  expect("gpus,nodes,throughput\n1000000,1,100\n", "line 2: column 1 (gpus): 1000000 is more than 65536");
  expect("nodes,gpus_per_node,throughput\n65536,65536,100\n",
         "line 2: 65536 nodes of 65536 GPUs are too many");
  expect("gpus,nodes,gpus_per_node,throughput\n4,9223372036854775807,3,100\n", "is more than 65536");
  expect("data_workers,throughput\n4294967297,100\n", "line 2: data_workers is 4294967297");
  expect("gpus,throughput\n1,\n", "line 2: no metric is given");
  expect("step_time_ns\n0.1\n", "cannot be stored");
  expect("step_time_d\n1e9\n", "cannot be stored");
}

TEST(Table, AHeaderThatMakesNoSense) {
  const auto expect = [](const std::string& text, const std::string& message,
                         const TableOptions& options = {}) {
    EXPECT_ERROR(ErrorCode::kBadInput, message, read(text, options));
  };
  expect("gpus,workload\n1,x\n", "no column is a metric");
  expect("gpus,,throughput\n1,2,3\n", "column 2: has no name");
  expect("gpus,GPUs ,throughput\n1,2,3\n", "column 2: \"gpus\" is there twice");
  expect("step_time\n3\n", "step_time has no unit");
  expect("step_time_weeks\n3\n", "\"weeks\" is not known");
  expect("throughput [ms]\n3\n", "must be something a second");
  expect("throughput\n3\n", "no column \"p50\"", {{{"p50", "step_time_ms"}}, {}});
  expect("throughput\n", "a header and no rows");
}

}  // namespace
}  // namespace ddbench::imports
