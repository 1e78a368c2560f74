#include "core/run_case/program_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/run_case/case_diff.h"
#include "temporary_directory.h"

namespace ddbench {
namespace {

class Program : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  ProgramFile read(const std::string& name) {
    return read_program_file(name, (folder_.path() / name).string()).value();
  }
  Facts facts(const std::vector<std::string>& names) {
    Facts facts;
    ProgramFiles files;
    for (const std::string& name : names) files.emplace(name, read(name).hash);
    set_program_files(facts, files);
    set_fact(facts, fact_key<"program.folder">, folder_.path().string());
    return facts;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(Program, AFileIsItsContent) {
  write("train.py", "");
  EXPECT_EQ(read("train.py").hash, "cbf29ce484222325") << "FNV-1a of nothing";
  write("train.py", "a");
  EXPECT_EQ(read("train.py").hash, "af63dc4c8601ec8c");
  write("with, comma and\nline.py", "a");
  EXPECT_EQ(read("with, comma and\nline.py").name, "with_ comma and_line.py");
  EXPECT_FALSE(read_program_file("gone", (folder_.path() / "gone").string()));
  EXPECT_FALSE(read_program_file("folder", folder_.path().string()));
}

TEST_F(Program, OfALargeFileSizeBeginAndEndCount) {
  write("large", "x");
  std::filesystem::resize_file(folder_.path() / "large", (std::uintmax_t{64} << 20) + 5);  // sparse
  const std::string before = read("large").hash;
  std::filesystem::resize_file(folder_.path() / "large", (std::uintmax_t{64} << 20) + 6);
  EXPECT_NE(read("large").hash, before);
}

TEST_F(Program, TravelsAsAName) {
  const ProgramFile file{"models/my model.py", "0123456789abcdef"};
  EXPECT_EQ(parse_program_file(program_file_name(file)), file);
  EXPECT_EQ(parse_program_folder(program_folder_name("/a b")), "/a b");
  for (const char* name : {"", "file: ", "file: 0123456789abcdef", "file: 0123456789abcdef ", "file: 0123456789ABCDEF a",
                           "file: 0123456789abcde  a", "file: 0123456789abcdef a,b", "aten::mm"})
    EXPECT_FALSE(parse_program_file(name)) << name;
  EXPECT_FALSE(parse_program_folder("folder: "));
}

TEST_F(Program, OnlyFilesOfBothShowOfAnEdit) {
  write("train.py", "1");
  write("on several ranks.py", "1");
  const Facts before = facts({"train.py"});
  EXPECT_EQ(program_files(before).size(), 1u);
  EXPECT_TRUE(changed_files(before, Facts{}).empty()) << "a run of an older ddbench";
  EXPECT_TRUE(changed_files(before, facts({"train.py", "on several ranks.py"})).empty());
  EXPECT_TRUE(files_changed_since(before).empty());
  write("train.py", "2");
  EXPECT_EQ(changed_files(before, facts({"train.py"})), std::vector<std::string>{"train.py"});
  EXPECT_EQ(files_changed_since(before), std::vector<std::string>{"train.py"});
  std::filesystem::remove(folder_.path() / "train.py");
  EXPECT_TRUE(files_changed_since(before).empty()) << "it may be on another machine";
  EXPECT_TRUE(program_files({{"program.files", "nohash, , x "}}).empty());
}

TEST_F(Program, AShellScriptIsAFileOfIt) {
  write("train.sh", "#!/usr/bin/env bash\npython3 train.py");
  write("torchrun", "#!/usr/bin/python3\n");
  write("none.sh", "python3 train.py");
  const auto path = [&](const char* name) { return (folder_.path() / name).string(); };
  const ProgramFiles script{{"train.sh", read("train.sh").hash}};
  EXPECT_EQ(shell_script_of({path("train.sh"), "--fast"}), script);
  EXPECT_EQ(shell_script_of({"bash", "-e", path("train.sh")}), script);
  EXPECT_EQ(shell_script_of({"/bin/sh", path("none.sh")}).size(), 1u);
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{}, {"sh"}, {"sh", "-c", path("train.sh")}, {"sh", "-ec", path("train.sh")}, {path("torchrun")},
        {path("none.sh")}, {path("gone")}, {"sh", path("gone")}, {"train.sh"}})
    EXPECT_TRUE(shell_script_of(other).empty());
}

TEST(FilesInWords, NamesTwo) {
  EXPECT_EQ(files_in_words({}), "");
  EXPECT_EQ(files_in_words({"a"}), "a");
  EXPECT_EQ(files_in_words({"a", "b"}), "a and b");
  EXPECT_EQ(files_in_words({"a", "b", "c", "d"}), "a, b and 2 more");
}

TEST(CaseDiff, AnEditIsOneChangeHoweverManyFilesItTouched) {
  const auto field = [](const char* hash) {
    CaseField file{hash, FieldRole::kIdentity};
    file.unknown_where_absent = true;
    return file;
  };
  const CaseFields before{{"script.a.py", field("1")}, {"script.b.py", field("2")}, {"script.c.py", field("3")}};
  const CaseFields after{{"script.a.py", field("4")}, {"script.b.py", field("5")}, {"script.d.py", field("6")}};
  const auto differences = case_diff(before, after);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].field, "script");
  EXPECT_EQ(differences[0].role, FieldRole::kIdentity);
  EXPECT_EQ(differences[0].a, "a.py 1, b.py 2");
  EXPECT_EQ(differences[0].b, "a.py 4, b.py 5");
  EXPECT_TRUE(case_diff(before, CaseFields{}).empty());
}

}  // namespace
}  // namespace ddbench
