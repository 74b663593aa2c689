// flymc manual and flymc completions print the command's description of itself, for `man` and for shells. They are used
// when the command is installed, so the help does not list them.
#include <memory>

#include "description.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/version.hpp"
#include "json.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

const std::vector<std::pair<int, std::string>> exit_codes = {
    {Exit::success, "done"},
    {Exit::bad_input, "the input cannot be used: the message says what, where, and what to do"},
    {Exit::bad_usage, "the flags cannot be understood"},
    {Exit::file_trouble, "files: no space, no permission, not enough memory; what was on disk is kept"},
    {Exit::internal, "a defect of flymc; please report it"},
    {Exit::interrupted, "stopped by Ctrl-C, SIGTERM or SIGHUP; flymc resume continues"}};

Json to_json(const DescribedCommand& command);

Json to_json(const DescribedOption& option) {
  Json out = {{"flags", option.flags},   {"name", option.name}, {"value", option.shape},
              {"default", option.usual}, {"help", option.help}, {"required", option.required},
              {"many", option.many}};
  if (!option.choices.empty()) out["choices"] = option.choices;
  return out;
}

Json to_json(const DescribedCommand& command) {
  Json out = {{"name", command.name}, {"help", command.help}, {"options", Json::array()}};
  for (const DescribedOption& option : command.options) out["options"].push_back(to_json(option));
  for (const DescribedCommand& inner : command.commands) out["commands"].push_back(to_json(inner));
  return out;
}

}  // namespace

void add_description_commands(CLI::App& app, Asked& asked) {
  const auto description = [&app] {
    return described(app, {{"--family", CLI::detail::split(family_names(","), ',')}});
  };
  CLI::App& page = *app.add_subcommand("manual", "this page, for man: flymc manual > flymc.1")->group("");
  page.footer("Example:\n  flymc manual | man -l -");
  const auto json = std::make_shared<bool>(false);
  add_json(page, *json);
  page.callback([&asked, description, json] {
    asked.command = [description, json] {
      print("{}", *json ? to_json(description()).dump(2) + "\n" : manual(description(), FLYMC_VERSION, exit_codes));
      return static_cast<int>(Exit::success);
    };
  });

  CLI::App& names =
      *app.add_subcommand("closest", "which of some names a misspelt one may mean, for programs")->group("");
  const auto given = std::make_shared<std::vector<std::string>>();
  names.add_option("names", *given, "the misspelt name, and those that it may mean")->type_name("NAME")->required();
  add_json(names, *json);
  names.footer("Example:\n  flymc closest --json -- agee age income");
  names.callback([&asked, given, json] {
    asked.command = [given, json] {
      const std::vector<std::string> known(given->begin() + 1, given->end());
      const std::string said = did_you_mean(given->front(), known);
      print("{}\n",
            *json ? json_of(Json::object({{"meant", close_names(given->front(), known)}, {"said", said}})) : said);
      return static_cast<int>(Exit::success);
    };
  });

  CLI::App& script =
      *app.add_subcommand("completions", "a script with which a shell completes the command's words")->group("");
  const auto shell = std::make_shared<std::string>();
  script.add_option("shell", *shell, "the shell")->type_name("bash|zsh|fish")->required();
  script.footer("Example, in ~/.bashrc:\n  source <(flymc completions bash)");
  add_json(script, *json);
  script.callback([&asked, description, shell, json] {
    asked.command = [description, shell, json] {
      const std::string text = completions(description(), *shell);
      print("{}", *json ? json_of(Json::object({{"script", text}})) + "\n" : text);
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
