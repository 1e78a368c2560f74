#include "analyzer/import/nccl_tests/nccl_tests.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expect_error.h"

namespace ddbench::imports {
namespace {

/// As all_reduce_perf of 2.13 prints on 4 GPUs of 2 hosts, with figures of our own: busbw is algbw x 1.5.
const std::string kText =
    R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid    101 on     node-a device  0 [0x0f] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid    102 on     node-a device  1 [0x10] NVIDIA A100-SXM4-40GB
#  Rank  2 Group  0 Pid    103 on     node-b device  0 [0x0f] NVIDIA A100-SXM4-40GB
#  Rank  3 Group  0 Pid    104 on     node-b device  1 [0x10] NVIDIA A100-SXM4-40GB
node-a:101:140 [0] NCCL INFO Bootstrap : Using eth0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     5.70    0.00    0.00      0     5.54    0.00    0.00      0
           8             2     float     sum      -1    25.10    0.00    0.00      0    24.90    0.00    0.00      0
     1048576        262144     float     sum      -1    104.9   10.00   15.00      0    110.4    9.50   14.25      0
node-b:103:141 [0] NCCL INFO Channel 00/02
   134217728      33554432     float     sum      -1    6711    20.00   30.00      0     6883   19.50   29.25    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 14.75
2026 rows of something else
)";

NcclTestsOptions all_reduce() {
  NcclTestsOptions options;
  options.function = "all_reduce";
  return options;
}

TEST(NcclTests, TextGivesARunForEachPlacement) {
  const auto runs = read_nccl_tests(kText, "out.txt", all_reduce());
  ASSERT_EQ(runs.size(), 2u);
  const RunCase& run_case = runs[0].run.run_case;
  EXPECT_EQ(work_name(run_case.work), "nccl-tests");
  EXPECT_EQ(run_case.nodes, 2);
  EXPECT_EQ(run_case.gpus_per_node, 2);
  EXPECT_EQ(work_options(run_case.work).at("place"), "out_of_place");
  EXPECT_EQ(work_options(run_case.work).at("type"), "float");
  EXPECT_EQ(run_case.precision, "float");
  EXPECT_EQ(run_case.strategy, "") << "nothing is trained";
  EXPECT_EQ(runs[0].collectives[0].communicator.ranks, 4);
  EXPECT_EQ(runs[0].run.provenance, ProvenanceSet{Provenance::kImported});
  EXPECT_EQ(runs[0].run.environment.facts.at("gpu.0.model"), "NVIDIA A100-SXM4-40GB");
  ASSERT_EQ(runs[0].collectives.size(), 3u);
  EXPECT_EQ(runs[0].collectives[1].bytes, 1048576u);
  EXPECT_EQ(runs[0].collectives[1].transfer_ns, 104'900);
  EXPECT_EQ(runs[0].collectives[1].count, 20u);
  EXPECT_EQ(runs[0].collectives[1].function, "all_reduce");
  EXPECT_EQ(runs[1].collectives[2].transfer_ns, 6'883'000);
  EXPECT_EQ(work_options(runs[1].run.run_case.work).at("place"), "in_place");
}

const std::string kDevices =
    "#  Rank  0 Group  0 Pid 1 on h device  0 [0x0f] H100\n#  Rank  1 Group  0 Pid 2 on h device  1 [0x10] H100\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";

std::string row_of(const std::string& busbw) {
  return "  33554432  4194304  double  none  -1  3355.44  10.00  " + busbw + "  0  3355.44  10.00  " + busbw + "  0\n";
}

TEST(NcclTests, ATestThatFailedLeavesNothingToTheNext) {
  const std::string text = "# Collective test starting: alltoall_perf\n# nThread 1 nGpus 1 iters: 20\n" + kDevices +
                           "h: Test NCCL failure common.cu:401\n .. h pid 5: Test failure alltoall.cu:348\n"
                           "# Collective test starting: sendrecv_perf\n# nThread 1 nGpus 1 iters: 20\n" +
                           kDevices + row_of("10.00") + "# Out of bounds values : 0 OK\n# Collective test concluded: "
                           "sendrecv_perf\n";
  const auto runs = read_nccl_tests(text, "out.log", {});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].collectives.at(0).function, "send_recv");
  EXPECT_EQ(runs[0].run.run_case.world_size(), 2);
  EXPECT_EQ(runs[0].run.environment.facts.at("note.1"), "1 of 2 tests in the file gave no results");
}

TEST(NcclTests, EachTestOfAFileIsRead) {
  std::string text;
  for (const char* const function : {"gather", "scatter", "hypercube", "alltoall"}) {
    text += fmt::format("+ mpirun ./build/{}_perf -b 8\n# nThread 1 nGpus 1 iters: 20\n", function) + kDevices +
            row_of(std::string(function) == "hypercube" ? "10.00" : "5.00") + "# Out of bounds values : 0 OK\n";
  }
  const auto runs = read_nccl_tests(text, "out.log", {});
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(runs[0].collectives.at(0).function, "gather");
  EXPECT_EQ(runs[2].collectives.at(0).function, "scatter");
  EXPECT_EQ(runs[4].collectives.at(0).function, "hypercube");
  EXPECT_EQ(runs[7].collectives.at(0).function, "all_to_all");
  EXPECT_FALSE(runs[7].run.environment.facts.contains("note.1"));
}

TEST(NcclTests, OlderAndNewerTables) {
  // Before 2.9: no root column, "error" for "#wrong"; with the program's name, mpirun's prefixes and
  // timestamps.
  const auto old = read_nccl_tests(
      "[1,0]<stdout>:$ ./build/all_gather_perf -g 2\n[1,0]<stdout>:#   Rank  0 Pid 1 on h device  0 [0x00] "
      "V100\n"
      "[1,0]<stdout>:#   Rank  1 Pid 1 on h device  1 [0x01] V100\n"
      "[1,0]<stdout>:#       size         count      type     time   algbw   busbw  error     time   algbw   "
      "busbw  error\n"
      "[1,0]<stdout>:  33554432  4194304  float  2000.0  16.78  8.39  0e+00  2000.0  16.78  8.39  N/A\n",
      "out.txt", {});
  EXPECT_EQ(old.at(0).collectives.at(0).function, "all_gather");
  EXPECT_EQ(old.at(0).run.run_case.world_size(), 2);
  const auto stamped = read_nccl_tests(
      "# Collective test starting: sendrecv_perf\n#  Rank  0 Group  0 Pid 1 on h device  0 [0000:0f:00] "
      "H100\n"
      "#  Rank  1 Group  0 Pid 1 on h device  1 [0000:10:00] H100\n"
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong timestamp\n"
      " 1048576 262144 float none -1 104.9 10.00 10.00 0 104.9 10.00 10.00 0 2026-11-21 10:00:00\n",
      "out.txt", {});
  EXPECT_EQ(stamped.at(0).collectives.at(0).function, "send_recv");
}

TEST(NcclTests, Json) {
  const std::string json = R"({"version":3,"args":["/opt/reduce_scatter_perf_mpi","-b","8"],
 "config":{"nthreads":1,"ngpus":2,"iterations":20,"devices":[
   {"rank":0,"hostname":"a","device_info":"NVIDIA H100"},{"rank":2,"hostname":"b","device_info":"NVIDIA H100"}]},
 "results":[{"size":1048576,"count":65536,"type":"float","redop":"sum","root":"-1",
   "out_of_place":{"time":104.857600,"alg_bw":10.0,"bus_bw":7.5,"nwrong":0.0},
   "in_place":{"time":104.857600,"alg_bw":10.0,"bus_bw":7.5,"nwrong":3.0},"actual_iterations":20}]})";
  const auto runs = read_nccl_tests(json, "out.json", {});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run.run_case.world_size(), 4);  // only the first rank of each process is listed
  EXPECT_EQ(runs[0].run.run_case.nodes, 2);
  EXPECT_EQ(runs[0].collectives[0].transfer_ns, 104'858);
  EXPECT_TRUE(runs[0].run.valid);
  EXPECT_FALSE(runs[1].run.valid);
  EXPECT_TRUE(test::contains(runs[1].run.invalid_reason, "3 wrong elements"));
}

TEST(NcclTests, MalformedRowsAreNamed) {
  const auto broken = [](const std::string& from, const std::string& to) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_ERROR(ErrorCode::kBadInput, "out.txt line 15: column 6 (time): \"x\"",
               read_nccl_tests(broken("104.9", "x"), "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 15: 9 values, but the header of the table has 13 columns",
               read_nccl_tests(broken("    110.4    9.50   14.25      0", ""), "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 15: busbw is 11",
               read_nccl_tests(broken("15.00", "11.00"), "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 15: 0 us",
               read_nccl_tests(broken("104.9", "0"), "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "give the right --function and --ranks",
               read_nccl_tests(kText, "out.txt", [] {
                 NcclTestsOptions options = all_reduce();
                 options.ranks = 8;
                 return options;
               }()));
}

TEST(NcclTests, FilesThatSayTooLittle) {
  EXPECT_ERROR(ErrorCode::kBadInput, "give --function", read_nccl_tests(kText, "out.txt", {}));
  EXPECT_ERROR(ErrorCode::kBadInput, "no results", read_nccl_tests("", "out.txt", {}));
  EXPECT_ERROR(ErrorCode::kBadInput, "no results",
               read_nccl_tests("mpirun: command not found\n", "out.txt", {}));
  EXPECT_ERROR(
      ErrorCode::kBadInput, "give --ranks",
      read_nccl_tests("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                      "8 2 float sum -1 1 1 1 0 1 1 1 0\n",
                      "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 1: the header of the table has no columns \"time\", \"algbw\"",
               read_nccl_tests("# size count type time time\n8 2 float 1 1\n", "out.txt", all_reduce()));
  EXPECT_ERROR(ErrorCode::kBadInput, "out.json: this is not valid JSON",
               read_nccl_tests("{\"results\": [", "out.json", {}));
  for (const char* size : {"1e999", "-1e999"}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "out.json: this is not valid JSON",
                 read_nccl_tests(fmt::format(R"({{"results":[{{"size":{}}}]}})", size), "out.json", {}));
  }
  EXPECT_ERROR(ErrorCode::kBadInput, "no list \"results\"", read_nccl_tests("{}", "out.json", {}));
  EXPECT_ERROR(ErrorCode::kBadInput, "result 1: size is missing",
               read_nccl_tests("{\"results\":[{}]}", "out.json", {}));
  EXPECT_ERROR(ErrorCode::kBadInput, "time is \"nan\"",
               read_nccl_tests(R"({"results":[{"size":8,"in_place":{"time":"nan"}}]})", "out.json", {}));
}

TEST(NcclTests, NodesThatAFileDoesNotNameAreNotSaid) {
  NcclTestsOptions options = all_reduce();
  options.ranks = 8;
  const auto runs = read_nccl_tests("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n8 2 float sum -1 1 0.1 0.1 0 1 0.1 0.1 0\n",
                                    "out.txt", options);
  EXPECT_TRUE(runs.at(0).run.run_case.nodes_not_stated);
  EXPECT_FALSE(read_nccl_tests(kText, "out.txt", all_reduce()).at(0).run.run_case.nodes_not_stated);
}

TEST(NcclTests, DeepValuesAreNamedByTheirType) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_ERROR(ErrorCode::kBadInput, "result 1: size is array, but it must be a number",
               read_nccl_tests("{\"results\":[{\"size\":" + deep + "}]}", "out.json", {}));
}

TEST(NcclTests, UnequalHostsAreRefused) {
  std::string text = kText;
  text.replace(text.find("node-b"), 6, "node-a");
  EXPECT_ERROR(ErrorCode::kBadInput, "4 ranks on 2 hosts", read_nccl_tests(text, "out.txt", all_reduce()));
}

}  // namespace
}  // namespace ddbench::imports
