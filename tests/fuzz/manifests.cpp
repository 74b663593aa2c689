// manifest.json, with a valid checksum: what is accepted stays in the run's folder, and is written as it was read.
#include "../../src/run/files/json/sealed_json.hpp"
#include "flymc/run/files/folder/manifest.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(manifests) {
  using namespace flymc;
  fuzz::run([](std::string_view bytes) { Manifest::from_json(std::string(bytes)); }, input);
  const Manifest read = Manifest::from_json(seal_json(std::string(input) + "\n}\n"));
  if (read.rows)
    for (const RowsPart& part : read.rows->parts) {
      fuzz::must(part_of_rows(part.file).has_value() && part.file.find('/') == std::string::npos,
                 "a part is a file of rows");
      for (const std::size_t source : part.sources) fuzz::must(source < read.rows->sources.size(), "a source is there");
    }
  fuzz::must(Manifest::from_json(read.to_json()) == read, "a manifest is written as it was read");
}
