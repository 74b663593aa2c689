// The encoding that a store keeps as JSON: if it can be read, it is written unchanged, and makes a model or is refused.
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(encodings) {
  using namespace flymc;
  const Encoding encoding = Encoding::from_json(std::string(input));
  const std::string text = encoding.to_json();
  fuzz::must(Encoding::from_json(text).to_json() == text, "an encoding survives its JSON");
  encoding.layout(NumberType::float64);
  make_model(fuzz::empty_run().settings(), encoding);
}
