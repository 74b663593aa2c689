// A chain's checkpoint, as CBOR with a valid checksum.
#include "../../src/run/files/folder/checkpoint_file.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(checkpoints) {
  using namespace flymc;
  static const bool made = std::filesystem::create_directories(fuzz::empty_run().path() / "chains");
  fuzz::must(made, "the folder is new");
  fuzz::put_record("run/chains/chain-000.flymc", "checkpoint", input);
  const auto read = load_checkpoint(fuzz::empty_run(), 0);
  fuzz::must(read && read->draws >= 0, "a checkpoint that is there is read or refused");
}
