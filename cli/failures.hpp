// Messages and exit codes for failures of the command.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "flymc/core/error.hpp"
#include "ranks.hpp"

namespace flymc {

// A failure, as --json prints it. Messages and advice have mentions (core/mention.hpp).
struct Failure {
  int exit_code;
  std::string code;  // a short word for its kind, on which programs may rely (docs/reference.md lists all)
  std::string message;
  std::vector<std::string> advice = {};  // what may be typed next, a sentence each
  InputPlace place = {};
  std::vector<std::string> meant = {};  // for an unknown flag: the flags that it may have been
};

// Thrown on the other ranks if the first rank has failed, which says why.
struct FirstRankFailed : std::exception {};

// Prints a failure to standard error, with mentions as flags: in lines that begin with the command's name, or as JSON on
// one line. Returns its exit code.
int say(const Failure& failure, bool json);

// Says that a run was stopped before its end, and how it goes on. Returns the exit code.
int say_interrupted(const std::filesystem::path& run, bool json);

// Calls the command and returns its exit code, or explains its exception and returns the code for that. `run` is the
// folder that the command reads or writes, and `in_stages` becomes true when it goes through the stages of the run.
// Exceptions about the command line pass.
int guarded(const std::function<int()>& command, const std::filesystem::path& run, const bool& in_stages,
            const Ranks& ranks, bool json);

}  // namespace flymc
