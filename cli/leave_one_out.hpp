// The commands `flymc loo` and `flymc compare`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace flymc {

// Adds them. A command that was chosen is put into `command`, and the one run that it reads into `run_path`.
void add_leave_one_out(CLI::App& app, std::string& run_path, std::function<int()>& command);

}  // namespace flymc
