// The structs against the members that NCCL's public headers list, laid out by the rules of the C ABI on
// 64-bit Linux: an independent account of the offsets that layout.cpp asserts.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "probes/nccl/profiler_abi.h"
#include "probes/nccl/profiler_abi_v7.h"

namespace ddbench::nccl {
namespace {

/// "u64 seqNumber, ptr func, ..." in the order of the header, from `begin` on -> offset by name; "" -> the
/// end.
std::map<std::string, std::size_t> laid_out(const std::string& members, std::size_t begin) {
  const std::map<std::string, std::size_t> sizes = {{"u8", 1},  {"bool", 1}, {"int", 4}, {"u64", 8},
                                                    {"i64", 8}, {"ptr", 8},  {"size", 8}};
  std::map<std::string, std::size_t> offsets;
  std::size_t at = begin;
  std::istringstream words(members);
  for (std::string type, name; words >> type >> name;) {
    const std::size_t bytes = sizes.at(type);
    at = (at + bytes - 1) / bytes * bytes;
    offsets[name] = at;
    at += bytes;
  }
  offsets[""] = (at + 7) / 8 * 8;
  return offsets;
}

// Every version: type, parentObj, rank, and the union, aligned to 8.
constexpr std::size_t kUnion = 24;

const char* const kCollV3 =
    "ptr name u64 commHash u64 seqNumber ptr func ptr sendBuff ptr recvBuff size count int root ptr datatype "
    "u8 nMaxChannels u8 nWarps ptr algo ptr proto";
const char* const kCollSinceV4 =
    "u64 seqNumber ptr func ptr sendBuff ptr recvBuff size count int root ptr datatype u8 nChannels u8 "
    "nWarps "
    "ptr algo ptr proto";

TEST(NcclLayout, Version3) {
  const auto coll = laid_out(kCollV3, kUnion);
  EXPECT_EQ(coll.at("commHash"), offsetof(EventV3, coll.commHash));
  EXPECT_EQ(coll.at("seqNumber"), offsetof(EventV3, coll.seqNumber));
  EXPECT_EQ(coll.at("func"), offsetof(EventV3, coll.func));
  EXPECT_EQ(coll.at("count"), offsetof(EventV3, coll.count));
  EXPECT_EQ(coll.at("datatype"), offsetof(EventV3, coll.datatype));
  EXPECT_EQ(coll.at("nMaxChannels"), offsetof(EventV3, coll.nMaxChannels));
  EXPECT_EQ(coll.at("algo"), offsetof(EventV3, coll.algo));
  EXPECT_EQ(coll.at("proto"), offsetof(EventV3, coll.proto));
  EXPECT_EQ(coll.at(""), sizeof(EventV3));
  const auto p2p =
      laid_out("ptr name u64 commHash ptr func ptr buff ptr datatype size count int peer", kUnion);
  EXPECT_EQ(p2p.at("func"), offsetof(EventV3, p2p.func));
  EXPECT_EQ(p2p.at("datatype"), offsetof(EventV3, p2p.datatype));
  EXPECT_EQ(p2p.at("count"), offsetof(EventV3, p2p.count));
}

template <typename Event>
void expect_layout_since_version_4(const char* p2p_members, const char* coll_more) {
  const auto coll = laid_out(std::string(kCollSinceV4) + coll_more, kUnion);
  EXPECT_EQ(coll.at("seqNumber"), offsetof(Event, coll.seqNumber));
  EXPECT_EQ(coll.at("func"), offsetof(Event, coll.func));
  EXPECT_EQ(coll.at("count"), offsetof(Event, coll.count));
  EXPECT_EQ(coll.at("datatype"), offsetof(Event, coll.datatype));
  EXPECT_EQ(coll.at("nChannels"), offsetof(Event, coll.nChannels));
  EXPECT_EQ(coll.at("algo"), offsetof(Event, coll.algo));
  EXPECT_EQ(coll.at("proto"), offsetof(Event, coll.proto));
  EXPECT_EQ(coll.at(""), sizeof(Event));
  const auto p2p = laid_out(p2p_members, kUnion);
  EXPECT_EQ(p2p.at("func"), offsetof(Event, p2p.func));
  EXPECT_EQ(p2p.at("datatype"), offsetof(Event, p2p.datatype));
  EXPECT_EQ(p2p.at("count"), offsetof(Event, p2p.count));
  EXPECT_EQ(p2p.at("nChannels"), offsetof(Event, p2p.nChannels));
  const auto proxy = laid_out("int pid u8 channelId int peer int nSteps int chunkSize int isSend", kUnion);
  EXPECT_EQ(proxy.at("pid"), offsetof(Event, proxyOp.pid));
  EXPECT_EQ(proxy.at("channelId"), offsetof(Event, proxyOp.channelId));
  const auto kernel = laid_out("u8 channelId u64 pTimer", kUnion);
  EXPECT_EQ(kernel.at("pTimer"), offsetof(Event, kernelCh.pTimer));
}

TEST(NcclLayout, Version4) {
  expect_layout_since_version_4<EventV4>("ptr func ptr buff ptr datatype size count int peer u8 nChannels",
                                         "");
}

TEST(NcclLayout, Versions5And6) {
  const char* const p2p = "ptr func ptr buff ptr datatype size count int peer u8 nChannels ptr parentGroup";
  expect_layout_since_version_4<EventV5>(p2p, " ptr parentGroup");
  expect_layout_since_version_4<EventV6>(p2p, " ptr parentGroup");
  const auto api =
      laid_out("ptr func size count ptr datatype int root ptr stream bool graphCaptured", kUnion);
  EXPECT_EQ(api.at("graphCaptured"), offsetof(EventV5, collApi.graphCaptured));
  EXPECT_LE(api.at(""), sizeof(EventV5));
  // The largest of what version 6 adds; it must not make the event longer.
  const auto copy_engine = laid_out(
      "u64 seqNumber ptr func ptr sendBuff ptr recvBuff size count int root ptr datatype ptr syncStrategy "
      "bool intraBatchSync int batchSize int numBatches int ceSeqNum ptr stream",
      kUnion);
  EXPECT_EQ(copy_engine.at(""), sizeof(EventV6));
}

/// Of 2.31.2. It has no version 6 behind the new members: they lie between.
TEST(NcclLayout, Version7) {
  const auto coll = laid_out(
      std::string(kCollSinceV4) + " ptr parentGroup ptr kernelVariant bool isSymColl u64 userTag", kUnion);
  EXPECT_EQ(coll.at("count"), offsetof(EventV7, coll.count));
  EXPECT_EQ(coll.at("nChannels"), offsetof(EventV7, coll.nChannels));
  EXPECT_EQ(coll.at("proto"), offsetof(EventV7, coll.proto));
  EXPECT_EQ(coll.at("parentGroup"), offsetof(EventV7, coll.parentGroup));
  EXPECT_EQ(coll.at("kernelVariant"), offsetof(EventV7, coll.kernelVariant));
  EXPECT_EQ(coll.at("isSymColl"), offsetof(EventV7, coll.isSymColl));
  EXPECT_EQ(coll.at(""), sizeof(EventV7));
  const auto p2p = laid_out(
      "ptr func ptr buff ptr datatype size count int peer u8 nChannels ptr parentGroup u64 userTag", kUnion);
  EXPECT_EQ(p2p.at("nChannels"), offsetof(EventV7, p2p.nChannels));
  EXPECT_EQ(p2p.at("parentGroup"), offsetof(EventV7, p2p.parentGroup));
  const auto api =
      laid_out("ptr func size count ptr datatype int root ptr stream bool graphCaptured u64 userTag", kUnion);
  EXPECT_EQ(api.at("graphCaptured"), offsetof(EventV7, collApi.graphCaptured));
  const auto p2p_api =
      laid_out("ptr func size count ptr datatype ptr stream bool graphCaptured u64 userTag", kUnion);
  EXPECT_EQ(p2p_api.at("graphCaptured"), offsetof(EventV7, p2pApi.graphCaptured));
  const auto phase = laid_out("u8 channelId u8 phaseId ptr phaseName u64 pTimer", kUnion);
  EXPECT_EQ(phase.at("phaseId"), offsetof(EventV7, kernelPhase.phaseId));
  EXPECT_EQ(phase.at("pTimer"), offsetof(EventV7, kernelPhase.pTimer));
  const auto copy_engine = laid_out(
      "u64 seqNumber ptr func ptr sendBuff ptr recvBuff size count int root ptr datatype ptr syncStrategy "
      "bool intraBatchSync int batchSize int numBatches int ceSeqNum ptr stream u64 userTag",
      kUnion);
  EXPECT_LE(copy_engine.at(""), sizeof(EventV7));
}

TEST(NcclLayout, WhatAGroupIsFoundBy) {
  const auto coll = laid_out(std::string(kCollSinceV4) + " ptr parentGroup", kUnion);
  EXPECT_EQ(coll.at("parentGroup"), offsetof(EventV5, coll.parentGroup));
  const auto p2p =
      laid_out("ptr func ptr buff ptr datatype size count int peer u8 nChannels ptr parentGroup", kUnion);
  EXPECT_EQ(p2p.at("parentGroup"), offsetof(EventV5, p2p.parentGroup));
}

}  // namespace
}  // namespace ddbench::nccl
