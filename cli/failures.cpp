// A message and an exit code for every kind of exception.
#include "failures.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "flags.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "json.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

namespace {

std::string to_json(const Failure& failure) {
  Json value = {{"code", failure.code}, {"message", in_flags(failure.message)}};
  const InputPlace& place = failure.place;
  const std::string setting = place.setting.empty() ? leading_setting(failure.message) : place.setting;
  for (const auto& [key, text] :
       {std::pair("setting", &setting), std::pair("file", &place.file), std::pair("column", &place.column)})
    if (!text->empty()) value[key] = *text;
  if (place.row > 0) value["row"] = place.row;
  for (const std::string& flag : failure.meant) value["meant"].push_back(flag);
  for (const std::string& sentence : failure.advice) value["advice"].push_back(in_flags(sentence));
  return json_of(std::move(value));
}

const char* code_of(InputError::Kind kind) {
  return kind == InputError::Kind::conflict       ? "conflict"
         : kind == InputError::Kind::missing_file ? "missing_file"
                                                  : "input";
}

bool has(const std::filesystem::path& run, const char* file) {
  std::error_code unknown;
  return !run.empty() && std::filesystem::exists(run / file, unknown);
}

bool has_rows(const std::filesystem::path& run) {
  std::error_code unknown;
  if (!run.empty())
    for (const auto& entry : std::filesystem::directory_iterator(run, unknown))
      if (const auto name = entry.path().filename().string(); name.starts_with("rows") && name.ends_with(".arrow"))
        return true;
  return false;
}

Failure of_input(const InputError& error, const std::filesystem::path& run, bool in_stages) {
  Failure out{Exit::bad_input, code_of(error.kind()), error.what(), {}, error.place()};
  // It failed where the prior matters, or was asked for anew. Reading the table again can be spared.
  if (in_stages && has_rows(run) && !has(run, "preparation.flymc"))
    out.advice.push_back(
        fmt::format("its rows are kept; `flymc sample {} --prior PRIOR --out OTHER` tries another prior on them",
                    for_a_shell(run.string())));
  if (const auto draws = run / "draws.parquet";
      dynamic_cast<const DamagedDraws*>(&error) && has(run, "draws.parquet")) {
    out.code = "damaged";
    out.advice.push_back(fmt::format("delete {} and {}, and {} samples again, to the same draws", draws.string(),
                                     (run / "chains").string(), mention_action("resume", run.string())));
  }
  return out;
}

Failure of_file(const FileError& error, const std::filesystem::path& run) {
  Failure out{Exit::file_trouble, error.missing() ? "missing_file" : "file", error.what(), {}, {.file = error.path()}};
  if (has(run, "settings.toml") && !has(run, "report.json"))
    out.advice.push_back(fmt::format("what was on the disk before is kept; {} goes on from there",
                                     mention_action("resume", run.string())));
  return out;
}

Failure of_system(const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again)  // of std::thread
    return {Exit::file_trouble, "threads",
            fmt::format("a thread cannot be started; allow the process more threads or more memory, or use fewer ({})",
                        mention("threads"))};
  return {Exit::file_trouble, "file",  // of fmt::print, to standard output
          fmt::format("standard output cannot be written ({})", error.code().message())};
}

// Describes the exception that is being handled. `run` is the folder that the command reads or writes, and
// `in_stages` whether it goes through the stages of the run.
Failure failure(const std::filesystem::path& run, bool in_stages) {
  try {
    throw;
  } catch (const InputError& error) {
    return of_input(error, run, in_stages);
  } catch (const FileError& error) {
    return of_file(error, run);
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    const bool missing = error.code() == std::errc::no_such_file_or_directory;
    return {Exit::file_trouble,
            missing ? "missing_file" : "file",
            fmt::format("{}: {}; check the name and its permissions", path, error.code().message()),
            {},
            {.file = path}};
  } catch (const std::system_error& error) {
    return of_system(error);
  } catch (const std::bad_alloc& error) {
    const auto* known = dynamic_cast<const MemoryError*>(&error);
    return {Exit::file_trouble, "memory",
            fmt::format("{}; `flymc plan` says how much a fit takes; {} halves the memory of the rows, and {} leaves "
                        "columns out",
                        known ? known->what() : "there is not enough memory", mention("float32"), mention("exclude"))};
  } catch (const std::exception& error) {
    return {Exit::internal, "internal",
            fmt::format("{}\nThis is a defect of flymc, not of your data: please report it.", error.what())};
  }
}

// Says why a rank failed, by the exception that is being handled. Returns the exit code.
int explain(const std::filesystem::path& run, bool in_stages, bool json) {
  try {
    throw;
  } catch (const FirstRankFailed&) {
    return Exit::bad_input;
  } catch (...) {
    return say(failure(run, in_stages), json);
  }
}

// Whether the exception that is being handled is a lack of memory.
bool short_of_memory() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

int say(const Failure& failure, bool json) {
  if (json) {
    tell("{}\n", to_json(failure));
    return failure.exit_code;
  }
  tell("flymc: {}\n", in_flags(failure.message));
  for (const std::string& sentence : failure.advice) tell("flymc: {}\n", in_flags(sentence));
  return failure.exit_code;
}

int say_interrupted(const std::filesystem::path& run, bool json) {
  const std::string resume = fmt::format("{} goes on from here", mention_action("resume", run.string()));
  if (json) return say({Exit::interrupted, "interrupted", "stopped", {resume}, {.file = run.string()}}, true);
  tell("stopped; {}\n", in_flags(resume));
  return Exit::interrupted;
}

int guarded(const std::function<int()>& command, const std::filesystem::path& run, const bool& in_stages,
            const Ranks& ranks, bool json) {
  try {
    const int code = command();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return code;
  } catch (const CLI::Error&) {
    throw;
  } catch (...) {
    // As a rule all ranks find the same fault, such as a column that the table lacks: the first one says so, and all
    // return. Ranks that have not failed would wait for this one for ever, so it ends them; and if the first rank is one
    // of them, this one says what is wrong. After a lack of memory nothing is asked of MPI but the end.
    const bool first = ranks.all().rank() == 0, out_of_memory = short_of_memory();
    int code = first ? explain(run, in_stages, json) : static_cast<int>(Exit::success);
    if (!out_of_memory && ranks.all_failed()) return code;
    if (!first) {
      if (out_of_memory) std::this_thread::sleep_for(std::chrono::seconds(2));  // the first may be ending all
      code = explain(run, in_stages, json);
    }
    ranks.abort(code);
    // The destructors of a library whose threads could not start may crash.
    if (out_of_memory) std::_Exit(code);
    return code;
  }
}

}  // namespace flymc
