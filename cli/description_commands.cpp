// flymc manual and flymc completions print the command's description of itself, for `man` and for shells. They are used
// when the command is installed, so the help does not list them.
#include <memory>

#include "description.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/version.hpp"
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

}  // namespace

void add_description_commands(CLI::App& app, Asked& asked) {
  const auto description = [&app] {
    return described(app, {{"--family", CLI::detail::split(family_names(","), ',')}});
  };
  CLI::App& page = *app.add_subcommand("manual", "this page, for man: flymc manual > flymc.1")->group("");
  page.footer("Example:\n  flymc manual | man -l -");
  page.callback([&asked, description] {
    asked.command = [description] {
      print("{}", manual(description(), FLYMC_VERSION, exit_codes));
      return static_cast<int>(Exit::success);
    };
  });

  CLI::App& script =
      *app.add_subcommand("completions", "a script with which a shell completes the command's words")->group("");
  const auto shell = std::make_shared<std::string>();
  script.add_option("shell", *shell, "the shell")->type_name("bash|zsh|fish")->required();
  script.footer("Example, in ~/.bashrc:\n  source <(flymc completions bash)");
  script.callback([&asked, description, shell] {
    asked.command = [description, shell] {
      print("{}", completions(description(), *shell));
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
