// Runs every target on the files of its corpus: fuzz_replay CORPUS.
#include "fuzz.hpp"

int main(int count, char** arguments) {
  const std::filesystem::path corpus(count > 1 ? arguments[1] : "corpus");
  for (const auto& [name, target] : flymc::fuzz::all_targets()) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / name)) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      flymc::fuzz::run(target, flymc::read_whole(entry.path()));
      ++files;
    }
    flymc::fuzz::must(files > 0, "each target has a corpus");
  }
}
