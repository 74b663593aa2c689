// settings.toml of a user and of a run: if settings can be read, they are written and read back as the same settings.
#include "flymc/run/files/settings/settings.hpp"

#include "fuzz.hpp"

namespace {

void read_and_write(std::string_view input, bool of_a_run) {
  using namespace flymc;
  Settings read;
  from_toml(input, "settings.toml", read, of_a_run);
  const std::string text = to_toml(read);
  for (const bool again_of_a_run : {false, true}) {
    Settings again;
    from_toml(text, "settings.toml", again, again_of_a_run);
    for (const Setting& setting : all_settings())
      fuzz::must(setting.get(again) == setting.get(read), "settings survive their file");
  }
  check(read);
}

}  // namespace

FLYMC_FUZZ_TARGET(settings) {
  flymc::fuzz::run([](std::string_view text) { read_and_write(text, false); }, input);
  flymc::fuzz::run([](std::string_view text) { read_and_write(text, true); }, input);
}
