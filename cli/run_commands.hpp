// Commands that read a finished run or describe the command itself, each in its own file.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "flymc/comm/communicator.hpp"
#include "runs.hpp"

namespace flymc {

// The request on a command line: the run that it names, and a function that does the work and returns the exit code.
struct Asked {
  const Communicator& ranks;
  std::string run = {};               // the run that it reads
  std::string makes = {};             // the folder of the run that it makes; empty if it makes none
  std::function<int()> command = {};  // does it, and returns the exit code
  bool on_all_ranks = false;          // else the first rank does it alone
  bool in_stages = false;             // whether the stages of the run have begun, so that its folder is this command's
  int expected_ranks = 0;             // 0: any number
};

void add_audit_command(CLI::App& app, Asked& asked);
void add_check_command(CLI::App& app, Asked& asked);
void add_description_commands(CLI::App& app, Asked& asked);
void add_export_command(CLI::App& app, Asked& asked);
void add_families_command(CLI::App& app, Asked& asked);
void add_groups_command(CLI::App& app, Asked& asked);
void add_fit_commands(CLI::App& app, Asked& asked);
void add_leave_one_out_commands(CLI::App& app, Asked& asked);
void add_plan_command(CLI::App& app, Asked& asked);
void add_predict_command(CLI::App& app, Asked& asked);
void add_report_command(CLI::App& app, Asked& asked);
void add_run_again_commands(CLI::App& app, Asked& asked);
void add_summary_command(CLI::App& app, Asked& asked);

// Each command has this flag: main.cpp prints failures as JSON, too.
inline void add_json(CLI::App& to, bool& json) { to.add_flag("--json", json, "print one JSON object"); }
inline void add_output(CLI::App& to, Output& output) {
  add_json(to, output.json);
  to.add_flag("--quiet", output.quiet, "print no progress");
}
inline void add_overwrite(CLI::App& to, bool& overwrite) {
  to.add_flag("--overwrite", overwrite, "replace the run that is in the folder");
}
inline void add_reference_class(CLI::App& to, std::string& reference_class) {
  to.add_option("--reference-class", reference_class, "softmax: differences are from this class [the first]")
      ->type_name("CLASS");
}
inline CLI::Option* add_expected_ranks(CLI::App& to, Asked& asked) {
  return to.add_option("--expect-ranks", asked.expected_ranks, "refuse another number of MPI processes")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

}  // namespace flymc
