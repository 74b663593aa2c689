// The flags and the output of leave-one-out.
#include "flymc/run/files/compare/leave_one_out.hpp"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

#include "flags.hpp"
#include "flymc/core/error.hpp"
#include "flymc/run/files/study/study.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

struct LooFlags {
  LooOptions options;
  std::vector<std::string> runs;
  bool json = false;
};

void add_flags(CLI::App& to, LooFlags& flags) {
  to.add_option("--rows", flags.options.rows, "how many rows are sampled; all, if the table has no more")
      ->type_name("N")
      ->capture_default_str();
  to.add_option("--seed", flags.options.seed, "which rows")->type_name("N")->capture_default_str();
  add_json(to, flags.json);
}

LeaveOneOut computed(const std::vector<std::string>& paths, const LooOptions& options) {
  check_usage(options);
  std::deque<Study> studies;
  std::vector<NamedRun> named;
  for (const std::string& path : paths) named.push_back({studies.emplace_back(path).runs(), path});
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::filesystem::equivalent(paths[i], paths[j]))
        throw InputError(paths[i] == paths[j] ? fmt::format("'{}' is named twice; compare different runs", paths[i])
                                              : fmt::format("'{}' and '{}' are the same run; compare different ones",
                                                            paths[j], paths[i]));
  LeaveOneOut out = leave_one_out(named, options);
  for (std::string& warning : out.warnings) warning = in_flags(warning);
  return out;
}

}  // namespace

void add_leave_one_out_commands(CLI::App& app, Asked& asked) {
  const auto flags = std::make_shared<LooFlags>();  // lives as long as the callbacks

  CLI::App& loo = *app.add_subcommand("loo", "how well a run predicts new rows: leave-one-out cross-validation");
  loo.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  add_flags(loo, *flags);
  loo.footer(
      "elpd_loo is the sum over the table of log p(row | all other rows): the larger, the better.\n"
      "Example:\n  flymc loo run");
  loo.callback([&asked, flags] {
    asked.command = [&asked, flags] {
      const LeaveOneOut of = computed({asked.run}, flags->options);
      print("{}", flags->json ? loo_json(of) : loo_text(of));
      return 0;
    };
  });

  CLI::App& compare =
      *app.add_subcommand("compare", "runs of one table by how well they predict new rows, the best first");
  compare.add_option("runs", flags->runs, "two runs or more, of one table and one target")->type_name("RUN");
  add_flags(compare, *flags);
  compare.footer(
      "A difference elpd_diff below 4, or below two of its standard errors se_diff, is no reason to prefer a run.\n"
      "Example:\n  flymc compare run with-income with-region");
  compare.callback([&asked, flags] {
    asked.command = [flags] {
      if (flags->runs.size() < 2)
        throw CLI::ValidationError(
            flags->runs.empty() ? "name two runs or more, of one table"
                                : fmt::format("name a second run to compare '{0}' with; `flymc loo {1}` is for one",
                                              flags->runs.front(), for_a_shell(flags->runs.front())),
            Exit::bad_usage);
      const LeaveOneOut of = computed(flags->runs, flags->options);
      print("{}", flags->json ? comparison_json(of) : comparison_text(of));
      return 0;
    };
  });
}

}  // namespace flymc
