// Reads the command's description from the parser.
#include "description.hpp"

#include <algorithm>
#include <cctype>

namespace flymc {
namespace {

// "error|drop" names two values, "auto|N" only one: words in lower case are typed literally.
std::vector<std::string> choices_of(const std::string& shape) {
  std::vector<std::string> out;
  if (shape.find('|') == std::string::npos) return out;
  for (const std::string& word : CLI::detail::split(shape, '|'))
    if (std::ranges::none_of(word, [](unsigned char c) { return std::isupper(c) != 0; })) out.push_back(word);
  return out;
}

DescribedOption described(const CLI::Option& option, const Choices& choices) {
  DescribedOption out;
  for (const std::string& letter : option.get_snames()) out.flags.push_back("-" + letter);
  for (const std::string& word : option.get_lnames()) out.flags.push_back("--" + word);
  if (out.flags.empty()) out.name = option.get_name(true);
  out.help = option.get_description();
  std::ranges::replace(out.help, '\n', ' ');
  out.heading = option.get_group();
  out.required = option.get_required();
  if (option.get_items_expected_max() == 0) return out;                            // a flag without a value
  out.shape = option.get_type_name().substr(0, option.get_type_name().find(':'));  // without the validator's name
  out.usual = option.get_default_str();
  out.many = option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  out.choices = choices_of(out.shape);
  for (const std::string& flag : out.flags)
    if (const auto known = choices.find(flag); known != choices.end()) out.choices = known->second;
  using enum DescribedOption::Takes;
  const bool names_files = out.shape.starts_with("FILE") || out.shape.starts_with("TABLE");
  const bool names_runs = out.shape.starts_with("RUN");
  out.takes = !out.choices.empty() ? choice : names_files ? files : names_runs ? folders : anything;
  return out;
}

}  // namespace

DescribedCommand described(const CLI::App& app, const Choices& choices) {
  DescribedCommand out{app.get_name(), app.get_description(), app.get_footer(), app.get_group().empty(), {}, {}};
  for (const CLI::Option* option : app.get_options()) out.options.push_back(described(*option, choices));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out.commands.push_back(described(*command, choices));
  return out;
}

}  // namespace flymc
