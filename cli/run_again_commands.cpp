// flymc sample and resume: commands that go on from an earlier run.
#include <memory>

#include "run_commands.hpp"
#include "runs.hpp"
#include "settings_flags.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

void add_sample(CLI::App& app, Asked& asked) {
  CLI::App& sample =
      *app.add_subcommand("sample", "again from a run, without its set-up: another prior, seed or number of draws");
  struct Given {
    std::string out;
    bool overwrite = false;
    SettingsFlags settings;
    Output output;
  };
  const auto given = std::make_shared<Given>();
  sample.add_option("run", asked.run, "an earlier run")->type_name("RUN")->required();
  sample.add_option("--out", given->out, "the folder of the new run")->type_name("RUN")->required();
  add_overwrite(sample, given->overwrite);
  given->settings.add_to(sample, {Setting::Group::sampling, Setting::Group::chains});
  add_output(sample, given->output);
  add_expected_ranks(sample, asked);
  sample.footer(
      "What is not given is as in the earlier run.\n"
      "Example:\n  flymc sample run --prior 'laplace(0, 1)' --out sparse");
  sample.callback([&asked, given] {
    asked.makes = given->out;
    asked.on_all_ranks = true;
    asked.command = [&asked, given] {
      const Study base(asked.run);
      const auto change = [&](Settings& settings) {
        given->settings.apply(settings);
        check_usage(settings);
      };
      const Existing existing = given->overwrite ? Existing::replace : Existing::keep;
      const auto make = [&] { return Study::create_on(base, given->out, change, existing); };
      const Study made = made_by_first(asked.ranks, given->out, make);
      asked.in_stages = true;
      return complete_study(made, given->output, asked.ranks);
    };
  });
}

void add_resume(CLI::App& app, Asked& asked) {
  CLI::App& resume = *app.add_subcommand("resume", "go on with a run that was stopped, as if it had not been");
  const auto output = std::make_shared<Output>();
  resume.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  add_output(resume, *output);
  add_expected_ranks(resume, asked);
  resume.footer("Example:\n  flymc resume run");
  resume.callback([&asked, output] {
    asked.on_all_ranks = true;
    asked.command = [&asked, output] {
      const Study study(asked.run);
      asked.in_stages = true;
      return complete_study(study, *output, asked.ranks);
    };
  });
}

}  // namespace

void add_run_again_commands(CLI::App& app, Asked& asked) {
  add_sample(app, asked);
  add_resume(app, asked);
}

}  // namespace flymc
