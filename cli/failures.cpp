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

#include "flags.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

void say(const std::string& text) { tell("flymc: {}\n", in_flags(text)); }

namespace {

// Says what went wrong by the exception that is being handled, and what to do. `run` is the folder that the command reads
// or writes, and `makes` whether it goes through the stages of the run. Returns the exit code.
int explain(const std::filesystem::path& run, bool makes) {
  const auto has = [&](const char* file) {
    std::error_code unknown;
    return !run.empty() && std::filesystem::exists(run / file, unknown);
  };
  const auto has_rows = [&] {
    std::error_code unknown;
    if (!run.empty())
      for (const auto& entry : std::filesystem::directory_iterator(run, unknown))
        if (const auto name = entry.path().filename().string(); name.starts_with("rows") && name.ends_with(".arrow"))
          return true;
    return false;
  };
  try {
    throw;
  } catch (const InputError& error) {
    say(error.what());
    // It failed where the prior matters, or was asked for anew. Reading the table again can be spared.
    if (makes && has_rows() && !has("preparation.flymc"))
      say(fmt::format("its rows are kept; `flymc sample {} --prior PRIOR --out OTHER` tries another prior on them",
                      for_a_shell(run.string())));
    if (const auto draws = run / "draws.parquet"; dynamic_cast<const DamagedDraws*>(&error) && has("draws.parquet"))
      say(fmt::format("delete {} and {}, and `flymc resume {}` samples again, to the same draws", draws.string(),
                      (run / "chains").string(), for_a_shell(run.string())));
    return Exit::bad_input;
  } catch (const FileError& error) {
    say(error.what());
    if (has("settings.toml") && !has("report.json"))
      say(fmt::format("what was on the disk before is kept; `flymc resume {}` goes on from there",
                      for_a_shell(run.string())));
    return Exit::file_trouble;
  } catch (const std::filesystem::filesystem_error& error) {
    say(fmt::format("{}: {}; check the name and its permissions", error.path1().string(), error.code().message()));
    return Exit::file_trouble;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)  // of std::thread
      say(fmt::format("a thread cannot be started; allow the process more threads or more memory, or use fewer ({})",
                      mention("threads")));
    else  // of fmt::print, to standard output
      say(fmt::format("standard output cannot be written ({})", error.code().message()));
    return Exit::file_trouble;
  } catch (const std::bad_alloc& error) {
    const auto* known = dynamic_cast<const MemoryError*>(&error);
    say(fmt::format(
        "{}; `flymc plan` says how much a fit takes; {} halves the memory of the rows, and {} leaves columns out",
        known ? known->what() : "there is not enough memory", mention("float32"), mention("exclude")));
    return Exit::file_trouble;
  } catch (const FirstRankFailed&) {
    return Exit::bad_input;
  } catch (const std::exception& error) {
    say(fmt::format("{}\nThis is a defect of flymc, not of your data: please report it.", error.what()));
    return Exit::internal;
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

int guarded(const std::function<int()>& command, const std::filesystem::path& run, bool makes, const Ranks& ranks) {
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
    int code = first ? explain(run, makes) : static_cast<int>(Exit::success);
    if (!out_of_memory && ranks.all_failed()) return code;
    if (!first) {
      if (out_of_memory) std::this_thread::sleep_for(std::chrono::seconds(2));  // the first may be ending all
      code = explain(run, makes);
    }
    ranks.abort(code);
    // The destructors of a library whose threads could not start may crash.
    if (out_of_memory) std::_Exit(code);
    return code;
  }
}

}  // namespace flymc
