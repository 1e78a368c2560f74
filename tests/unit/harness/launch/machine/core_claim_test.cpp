#include "harness/launch/machine/core_claim.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class CoreClaims : public ::testing::Test {
 protected:
  CoreClaim claim(const std::string& run, int slot, std::vector<int> cores = {0, 2, 1, 3}) const {
    return CoreClaim(file_, {std::move(cores), slot, run, 0ms});
  }

  test::TemporaryDirectory directory_;
  fs::path file_ = directory_.path() / "cores";
};

TEST_F(CoreClaims, TheRanksOfTwoRunsTakeDifferentCores) {
  const CoreClaim a0 = claim("run-a", 0), a1 = claim("run-a", 1), b0 = claim("run-b", 0), b1 = claim("run-b", 1);
  EXPECT_EQ(a0.core(), 0);
  EXPECT_EQ(a1.core(), 2);
  EXPECT_EQ(b0.core(), 1);
  EXPECT_EQ(b1.core(), 3);
  for (const CoreClaim* each : {&a0, &a1, &b0, &b1}) EXPECT_EQ(each->shared_with() + each->blind(), "");
}

TEST_F(CoreClaims, WhoHasToShareIsKnownToBoth) {
  const CoreClaim a0 = claim("run-a", 0, {4, 5});
  const CoreClaim a1 = claim("run-a", 1, {4, 5});
  {
    const CoreClaim b = claim("run-b", 1, {4, 5});
    EXPECT_EQ(b.core(), 5);
    EXPECT_EQ(b.shared_with(), "run run-a");
  }
  EXPECT_EQ(a0.shared_with(), "") << "its core was its own";
  EXPECT_EQ(a1.shared_with(), "run run-b") << "b has ended meanwhile";
}

TEST_F(CoreClaims, WhoFindsTooFewCoresSharesOneOfTheOtherRun) {
  const CoreClaim a = claim("run-a", 0, {4, 5});
  const CoreClaim b0 = claim("run-b", 0, {4, 5});
  EXPECT_EQ(b0.core(), 5) << "where its other rank would be";
  const CoreClaim b1 = claim("run-b", 1, {4, 5});
  EXPECT_EQ(b1.core(), 4);
  EXPECT_EQ(b1.shared_with(), "run run-a");
  EXPECT_EQ(a.shared_with(), "run run-b");
  EXPECT_EQ(b0.shared_with(), "");
}

TEST_F(CoreClaims, ACoreThatOthersStillShareIsNotFree) {
  auto holder = claim("run-a", 0, {7});
  const CoreClaim sharer = claim("run-b", 0, {7});
  holder = {};
  const CoreClaim third = claim("run-c", 0, {7, 8});
  EXPECT_EQ(third.core(), 8);
  const CoreClaim fourth = claim("run-d", 0, {7});
  EXPECT_EQ(fourth.shared_with(), "run run-b");
}

TEST_F(CoreClaims, RanksOfOneRunOnFewCoresAreNoOtherRun) {
  const CoreClaim zero = claim("run-a", 0, {1, 2}), one = claim("run-a", 1, {1, 2}), two = claim("run-a", 2, {1, 2});
  EXPECT_EQ(two.core(), 1);
  for (const CoreClaim* each : {&zero, &one, &two}) EXPECT_EQ(each->shared_with(), "");
}

TEST_F(CoreClaims, RanksOfOneRunAreSpreadEvenlyInWhicheverOrderTheyCome) {
  const std::vector<int> cores{4, 5};
  std::vector<int> order{0, 1, 2, 3};
  do {
    std::vector<CoreClaim> ranks(order.size());
    for (const int slot : order) ranks[static_cast<std::size_t>(slot)] = claim("run-a", slot, cores);
    for (const int slot : order) {
      const CoreClaim& rank = ranks[static_cast<std::size_t>(slot)];
      EXPECT_EQ(rank.core(), cores[static_cast<std::size_t>(slot) % 2]) << "slot " << slot << ", first was slot " << order.front();
      EXPECT_EQ(rank.shared_with(), "");
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(CoreClaims, ARankBesideOneOfItsRunSeesAnotherRunThatComes) {
  const CoreClaim two = claim("run-a", 2, {4, 5}), zero = claim("run-a", 0, {4, 5});
  EXPECT_EQ(zero.core(), 4);
  const CoreClaim other = claim("run-b", 0, {4});
  EXPECT_EQ(other.shared_with(), "run run-a");
  EXPECT_EQ(zero.shared_with(), "run run-b");
}

TEST_F(CoreClaims, AKilledRankLeavesItsCore) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const CoreClaim held = claim("run-killed", 0, {3});
    (void)!::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(claim("run-a", 0, {3}).shared_with(), "run run-killed");
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_EQ(claim("run-b", 0, {3}).shared_with(), "");
}

TEST_F(CoreClaims, EveryUserMayWriteTheFile) {
  claim("run-a", 0);
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666u) << "whatever the umask is";
}

TEST_F(CoreClaims, WhatOthersWroteCostsNamesAndNeverACore) {
  std::ofstream(file_) << std::string(4096, '\xff');
  const CoreClaim a = claim("run-a", 0, {0});
  EXPECT_EQ(a.core(), 0);
  EXPECT_EQ(a.shared_with(), "");
  fs::resize_file(file_, 0);
  const CoreClaim b = claim("run-b", 0, {0});
  EXPECT_EQ(b.shared_with(), "a run whose name is not known");
  EXPECT_EQ(a.shared_with(), "run run-b");
}

TEST_F(CoreClaims, AFileThatCannotBeUsedIsReplacedByTheUsersOwn) {
  fs::create_directory(file_);
  const CoreClaim a = claim("run-a", 0), b = claim("run-b", 0);
  EXPECT_NE(a.core(), b.core());
  EXPECT_NE(a.blind().find("other users"), std::string::npos) << a.blind();
  const fs::path link = directory_.path() / "link";
  fs::create_symlink("/etc/passwd", link);
  EXPECT_NE(CoreClaim(link, {{0}, 0, "run-c", 0ms}).blind(), "");
  const CoreClaim none("/no/such/folder/cores", {{6}, 0, "run-d", 0ms});
  EXPECT_EQ(none.core(), 6);
  EXPECT_NE(none.blind().find("cannot be written"), std::string::npos) << none.blind();
}

TEST_F(CoreClaims, AFileThatItsOwnerAloneMayWriteIsLeftAlone) {
  std::ofstream(file_) << "of another user";
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  EXPECT_EQ(claim("run-a", 0).blind(), "") << "an own one";
  std::ofstream(file_) << "of another user";
  if (::chown(file_.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root has files of another user, and may write them";
  EXPECT_NE(claim("run-a", 0).blind().find("other users"), std::string::npos);
  std::string text;
  std::getline(std::ifstream(file_), text, '\0');
  EXPECT_EQ(text, "of another user");
}

TEST_F(CoreClaims, WhoWantsNoneTakesNone) {
  EXPECT_EQ(claim("run-a", -1).core(), -1);
  EXPECT_EQ(claim("run-a", 0, {}).core(), -1);
  EXPECT_EQ(CoreClaim().shared_with(), "");
}

}  // namespace
}  // namespace ddbench::launch
