// The libFuzzer program: searches for inputs of the target that the environment names.
//
//   FLYMC_FUZZ_TARGET=settings build/asan/tests/fuzz/fuzz_search -max_total_time=60 FOLDER tests/fuzz/corpus/settings
#include <cstdio>
#include <cstdlib>

#include "fuzz.hpp"

namespace {

flymc::fuzz::Target target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FLYMC_FUZZ_TARGET");
  const auto found = flymc::fuzz::all_targets().find(name ? name : "");
  if (found == flymc::fuzz::all_targets().end()) {
    std::fputs("FLYMC_FUZZ_TARGET must name a target:", stderr);
    for (const auto& [known, function] : flymc::fuzz::all_targets()) std::fprintf(stderr, " %s", known.c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  target = found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flymc::fuzz::run(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
