// The settings and the folders of a study's fits.
#include "flymc/run/files/study/study.hpp"

#include <fmt/format.h>

#include <utility>

#include "../folder/new_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

// With one seed all parts would use the same random numbers, and their draws would not be independent. The constant is
// large because users choose small seeds. Converts a part's seed back, too.
std::uint64_t seed_of_part(std::uint64_t seed, std::size_t part) {
  return seed ^ (std::uint64_t{0x68757264'6c650000u} * part);
}

// Checks that the folders of the parts may become runs.
void check_parts(const fs::path& folder, const CompositeCard& whole, Existing existing) {
  const bool is_there = composite_in(folder) == &whole;
  if (!is_there) check_vacant(folder, Existing::keep);
  // The folder was vacant, but may contain the settings of a run that failed before it had rows.
  std::error_code none;
  if (!is_there) fs::remove(folder / "settings.toml", none);
  for (const PartCard& part : whole.parts) refuse_link(folder / part.name);
  for (const PartCard& part : whole.parts) check_vacant(folder / part.name, existing);
}

}  // namespace

std::vector<Settings> fits_of(const Settings& asked) {
  const CompositeCard* const whole = find_composite(asked.family);
  if (whole == nullptr) {
    check(asked);
    return {asked};
  }
  std::vector<Settings> out;
  for (const PartCard& part : whole->parts) {
    out.push_back(asked);
    out.back().family = part.family;
    out.back().part = part.name;
    out.back().fit.seed = seed_of_part(asked.fit.seed, out.size() - 1);
  }
  // The last part is checked first: its family is the one that most settings are for.
  for (auto fit = out.rbegin(); fit != out.rend(); ++fit) check(*fit);
  return out;
}

std::string heading_of(const Settings& fit) {
  const PartCard* const part = part_of(fit).part;
  if (part == nullptr) return "";
  return fmt::format("{}: {} ({})", part->name, fmt::format(fmt::runtime(part->question), fit.target), fit.family);
}

Study Study::create(const fs::path& folder, const Settings& asked, Existing existing) {
  const std::vector<Settings> fits = fits_of(asked);
  if (existing == Existing::replace) check_table(fits.front());
  const CompositeCard* const whole = find_composite(asked.family);
  if (whole != nullptr) check_parts(folder, *whole, existing);
  std::vector<Part> made;
  for (const Settings& fit : fits)
    made.push_back({RunDirectory::create(whole ? folder / fit.part : folder, fit, nullptr, existing)});
  return Study(folder, std::move(made));
}

Study Study::create_on(const Study& base, const fs::path& folder, const std::function<void(Settings&)>& change,
                       Existing existing) {
  const CompositeCard* const whole = composite_in(base.path());
  const auto folder_of = [&](const Part& part) { return whole ? folder / part.name() : folder; };
  std::vector<Settings> fits;
  for (const Part& part : base.parts()) {
    Settings settings = settings_on(part.run, folder_of(part));
    settings.fit.seed = seed_of_part(settings.fit.seed, fits.size());
    change(settings);
    settings.fit.seed = seed_of_part(settings.fit.seed, fits.size());
    check(settings);
    fits.push_back(std::move(settings));
  }
  if (whole != nullptr) check_parts(folder, *whole, existing);
  std::vector<Part> made;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const Part& part = base.parts()[i];
    made.push_back({flymc::create_on(part.run, folder_of(part), fits[i], existing)});
  }
  return Study(folder, std::move(made));
}

Study::Study(fs::path folder) : path_(std::move(folder)) {
  const CompositeCard* const whole = composite_in(path_);
  if (whole == nullptr) {
    parts_.push_back({RunDirectory(path_)});
    return;
  }
  for (const PartCard& part : whole->parts) {
    refuse_link(path_ / part.name);
    parts_.push_back({RunDirectory(path_ / part.name)});
    if (parts_.back().name() != part.name)
      throw InputError(fmt::format("{}: the run in it is not the part {} of a fit by {}; {} makes one",
                                   (path_ / part.name).string(), part.name, whole->name, mention_action("fit")));
  }
}

std::vector<const RunDirectory*> Study::runs() const {
  std::vector<const RunDirectory*> out;
  for (const Part& part : parts_) out.push_back(&part.run);
  return out;
}

std::vector<Settings> Study::fits() const {
  std::vector<Settings> out;
  for (const Part& part : parts_) out.push_back(part.run.settings());
  return out;
}

std::vector<RunDirectory> Study::release() && {
  std::vector<RunDirectory> out;
  for (Part& part : parts_) out.push_back(std::move(part.run));
  return out;
}

fs::path Study::file_of(const Part& part, const fs::path& out) const {
  if (parts_.size() == 1 || out.empty()) return out;
  // An address in a store is text, in which `//` must stay.
  const std::string text = out.string(), ending = out.extension().string();
  return fmt::format("{}_{}{}", text.substr(0, text.size() - ending.size()), part.name(), ending);
}

}  // namespace flymc
