#include "analyzer/import/trace/placement.h"

#include <gtest/gtest.h>

#include "analyzer/import/kineto/trace_member.h"
#include "core/error.h"
#include "expect_error.h"

namespace ddbench::imports {
namespace {

/// `devices`: GPUs that each trace sees; a rank's kernels ran on that of its number modulo `used`.
TraceJob job_of(int ranks, int devices, int used, int world_size = 0) {
  TraceJob job;
  job.world_size = world_size == 0 ? ranks : world_size;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTrace trace;
    trace.info.devices = devices;
    if (used > 0) trace.kernels_by_device[rank % used] = 100;
    job.traces.push_back(std::move(trace));
    job.ranks.push_back(rank);
  }
  return job;
}

TEST(Placement, IdsOfGpusShowWhereTheyRepeatWithAllGpusOfANode) {
  const Placement placement = find_placement(job_of(16, 8, 8), 0);
  EXPECT_TRUE(placement.is_known);
  EXPECT_EQ(placement.per_node, 8);
  EXPECT_EQ(placement.node[7], 0);
  EXPECT_EQ(placement.node[8], 1);
}

TEST(Placement, OneTraceOfALargeJobReportsWithTheGpusThatItSees) {
  const Placement placement = find_placement(job_of(1, 8, 8, 128), 0);
  EXPECT_TRUE(placement.is_known);
  EXPECT_EQ(placement.per_node, 8);
}

TEST(Placement, ProcessesThatSeeOnlyTheirOwnGpuDoNotShow) {
  const Placement placement = find_placement(job_of(8, 1, 1), 0);
  EXPECT_FALSE(placement.is_known);
  EXPECT_EQ(placement.per_node, 8);
  EXPECT_NE(placement.note.find("--gpus-per-node"), std::string::npos);
}

TEST(Placement, WithoutGpusOrWithOthersThanTheirNumberItIsNotKnown) {
  EXPECT_FALSE(find_placement(job_of(4, 0, 0), 0).is_known);
  EXPECT_FALSE(find_placement(job_of(4, 8, 2), 0).is_known);
  EXPECT_FALSE(find_placement(job_of(1, 8, 8, 2), 0).is_known) << "two ranks of one node, or of two";
  EXPECT_FALSE(find_placement(job_of(12, 8, 8), 0).is_known) << "8 does not divide 12";
  EXPECT_TRUE(find_placement(job_of(1, 0, 0), 0).is_known) << "one rank is on one node";
}

TEST(Placement, NodesOfOneNameAreNotOneNode) {
  TraceJob job = job_of(8, 4, 4);
  for (RankTrace& trace : job.traces) trace.info.host = "localhost";
  Placement placement = find_placement(job, 0);  // the ids of GPUs repeat after four
  EXPECT_TRUE(placement.is_known);
  EXPECT_EQ(placement.per_node, 4);
  EXPECT_NE(placement.note.find("ranks 0 and 4 name the host localhost and both use a GPU 0"), std::string::npos) << placement.note;
  job.traces[1].kernels_by_device = {{3, 100}};  // in another order
  placement = find_placement(job, 0);
  EXPECT_FALSE(placement.is_known);
  EXPECT_NE(placement.note.find("several nodes may have this name"), std::string::npos) << placement.note;
  EXPECT_EQ(find_placement(job, 4).per_node, 4) << "what is stated does not contradict such hosts";
}

TEST(Placement, HostsShowAlsoWhereRanksAreDealtOutInTurn) {
  TraceJob job = job_of(4, 1, 1);
  for (int rank = 0; rank < 4; ++rank) job.traces[static_cast<std::size_t>(rank)].info.host = rank % 2 == 0 ? "a" : "b";
  const Placement placement = find_placement(job, 0);
  EXPECT_TRUE(placement.is_known);
  EXPECT_EQ(placement.per_node, 2);
  EXPECT_EQ(placement.node, (std::vector<int>{0, 1, 0, 1}));
  job.traces[1].info.host = "a";
  EXPECT_FALSE(find_placement(job, 0).is_known) << "three ranks on a, one on b";
  job.traces[1].info.host.clear();
  EXPECT_FALSE(find_placement(job, 0).is_known);
}

TEST(Placement, WhatIsStatedMustFit) {
  EXPECT_EQ(find_placement(job_of(8, 1, 1), 4).per_node, 4);
  EXPECT_THROW(find_placement(job_of(8, 1, 1), 3), Error);
  TraceJob job = job_of(2, 1, 1);
  job.traces[0].info.host = "a";
  job.traces[1].info.host = "b";
  EXPECT_THROW(find_placement(job, 2), Error);
}

TEST(Placement, WhatIsStatedKeepsTheHostsThatAreKnown) {
  TraceJob job = job_of(4, 1, 1);
  for (int rank = 0; rank < 4; ++rank) job.traces[static_cast<std::size_t>(rank)].info.host = rank % 2 == 0 ? "a" : "b";
  const Placement placement = find_placement(job, 2);
  EXPECT_TRUE(placement.is_known);
  EXPECT_EQ(placement.per_node, 2);
  EXPECT_EQ(placement.node, (std::vector<int>{0, 1, 0, 1})) << "dealt out in turn, not 0, 0, 1, 1";
  job.traces[1].info.host = "a";
  EXPECT_ERROR(ErrorCode::kBadInput, "--gpus-per-node 2: the traces name hosts with unequal numbers of ranks", find_placement(job, 2));
}

TEST(Placement, TheDefaultNameOfATraceHasItsHost) {
  EXPECT_EQ(host_in_name("log/node_7-a_4711.1690000000000.pt.trace.json.gz"), "node_7-a");
  EXPECT_EQ(host_in_name("log/node7_4711.1690000000000.pt.trace.json"), "node7");
  for (const char* name : {"rank0.json", "a.pt.trace.json", "_1.2.pt.trace.json", "a_b.1.pt.trace.json", "a_1.x.pt.trace.json"})
    EXPECT_EQ(host_in_name(name), "") << name;
}

}  // namespace
}  // namespace ddbench::imports
