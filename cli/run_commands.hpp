// Commands that look at a finished run or at the command itself, each in a file of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace flymc {

// What a command line asks for: the run that it names, and what to do, which returns the exit code.
struct Asked {
  std::string& run;
  std::function<int()>& command;
};

void add_audit_command(CLI::App& app, Asked asked);
void add_check_command(CLI::App& app, Asked asked);
void add_description_commands(CLI::App& app, Asked asked);
void add_report_command(CLI::App& app, Asked asked);
void add_leave_one_out_commands(CLI::App& app, Asked asked);

}  // namespace flymc
