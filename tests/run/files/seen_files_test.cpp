// If ranks see different files, the message names the file and the ranks.
#include "../../../src/run/files/folder/seen_files.hpp"

#include <gtest/gtest.h>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using problems::ThreadRanks;

class SeenFiles : public flymc::testing::ScratchFolder {
 protected:
  // The message of all ranks if rank r sees files[r].
  static std::string said(const std::vector<std::vector<SeenFile>>& files) {
    return message<InputError>([&] {
      ThreadRanks::run(static_cast<int>(files.size()), [&](const Communicator& ranks) {
        check_all_see(files[static_cast<std::size_t>(ranks.rank())], ranks);
      });
    });
  }
  SeenFile file(const std::string& name, const std::string& bytes) const {
    write_whole(folder_ / name, bytes);
    SeenFile out = seen_table((folder_ / name).string());
    out.name = "t.csv";
    return out;
  }
};

TEST_F(SeenFiles, AreTheSameForAllRanks) {
  const SeenFile one = file("one", "a,b\n1,2\n"), same = file("same", "a,b\n1,2\n"),
                 longer = file("longer", "a,b\n1,2\n3,4\n"), other = file("other", "a,b\n1,3\n");
  EXPECT_EQ(said({{one}, {same}, {one}}), "no error");
  EXPECT_EQ(said({{one}}), "no error");
  const std::string advice = "; all ranks must read the same files, from a file system that they share";
  EXPECT_EQ(said({{one}, {other}, {one}}), "t.csv: rank 1 sees another file than rank 0" + advice);
  EXPECT_EQ(said({{one}, {longer}, {longer}}), "t.csv: ranks 1, 2 see a file of another size than rank 0" + advice);
  EXPECT_EQ(said({{one, one}, {one}, {one, one}}),
            "t.csv: rank 0 finds 2 files, and rank 1 another number of them" + advice);
  SeenFile renamed = one;
  renamed.name = "u.csv";
  EXPECT_EQ(said({{one, renamed}, {renamed, one}}),
            "t.csv: rank 1 sees a file of another name in its place than rank 0" + advice);
}

// Detects changes at both ends of a large file, and in pieces between them.
TEST_F(SeenFiles, ALargeFileIsKnownByItsEnds) {
  std::string bytes(3'000'001, '7');
  const SeenFile whole = file("whole", bytes);
  for (const std::size_t at : {std::size_t{0}, std::size_t{16000}, bytes.size() - 16000, bytes.size() - 1}) {
    bytes[at] = '8';
    EXPECT_NE(file("other", bytes).hash, whole.hash) << at;
    bytes[at] = '7';
  }
  EXPECT_EQ(file("same", bytes).hash, whole.hash);
}

}  // namespace
}  // namespace flymc
