// flymc families: the facts about families that programs ask for.
#include <memory>

#include "flymc/core/names.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "json.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

const char* name_of(TargetKind kind) {
  switch (kind) {
    case TargetKind::two_classes:
      return "two_classes";
    case TargetKind::classes:
      return "classes";
    case TargetKind::ordered:
      return "ordered";
    default:
      return "number";
  }
}

std::string families_json() {
  Json out = {{"default", Settings().family}, {"families", Json::array()}, {"composites", Json::array()}};
  for (const FamilyCard& card : all_families()) {
    Json settings = Json::array();
    for (const FamilyParameter& parameter : card.parameters) settings.push_back(parameter.name);
    out["families"].push_back({{"name", card.name},
                               {"target", name_of(card.target)},
                               {"trials", card.trials},
                               {"counts", card.counts},
                               {"times", card.times},
                               {"log_link", card.log_link},
                               {"scale", card.scale},
                               {"shape", card.shape},
                               {"ratio", card.ratio.name},
                               {"settings", settings}});
  }
  for (const CompositeCard& card : all_composites()) {
    Json parts = Json::array();
    for (const PartCard& part : card.parts)
      parts.push_back({{"name", part.name}, {"family", part.family}, {"question", part.question}});
    out["composites"].push_back({{"name", card.name}, {"parts", parts}});
  }
  return out.dump(2) + "\n";
}

std::string families_text() {
  std::string out;
  for (const FamilyCard& card : all_families()) {
    const bool classes = card.target != TargetKind::number;
    const std::string target = classes         ? joined(CLI::detail::split(name_of(card.target), '_'), " ")
                               : card.trials   ? "successes among trials"
                               : card.counts   ? "counts"
                               : card.times    ? "times, or amounts above 0"
                               : card.log_link ? "amounts above 0"
                                               : "numbers";
    out += fmt::format("{:18} {}\n", card.name, target);
  }
  for (const CompositeCard& card : all_composites()) {
    std::vector<std::string> parts;
    for (const PartCard& part : card.parts) parts.push_back(fmt::format("{} ({})", part.name, part.family));
    out += fmt::format("{:18} several fits: {}\n", card.name, joined(parts, ", "));
  }
  return out;
}

}  // namespace

void add_families_command(CLI::App& app, Asked& asked) {
  CLI::App& command = *app.add_subcommand("families", "the names for --family, and the targets that they are for");
  const auto json = std::make_shared<bool>(false);
  add_json(command, *json);
  command.footer("Example:\n  flymc families");
  command.callback([&asked, json] {
    asked.command = [json] {
      print("{}", *json ? families_json() : families_text());
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
