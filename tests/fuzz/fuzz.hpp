// Shared by all fuzz targets. A target is a function of bytes. It may refuse them with an InputError or a FileError;
// any other exception is a defect.
//
// fuzz_replay runs every target on its corpus, as a test. With -DFLYMC_FUZZ=ON (clang), fuzz_search searches for new
// inputs of one target with libFuzzer.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "../../src/run/files/json/record.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc::fuzz {

using Target = void (*)(std::string_view input);

inline std::map<std::string, Target>& all_targets() {
  static std::map<std::string, Target> all;
  return all;
}
inline bool add(const char* name, Target target) { return all_targets().emplace(name, target).second; }

inline void run(Target target, std::string_view input) {
  try {
    target(input);
  } catch (const InputError&) {  // refused with a message
  } catch (const FileError&) {
  }
}

// A property that must hold for every input.
inline void must(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", law);
  std::abort();
}

// A folder of this process, in memory if the system has such a folder.
inline const std::filesystem::path& folder() {
  struct Folder {
    Folder() {
      const char* const memory = "/dev/shm";
      path = (::access(memory, W_OK) == 0 ? std::filesystem::path(memory) : std::filesystem::temp_directory_path()) /
             fmt::format("flymc-fuzz-{}", ::getpid());
      std::filesystem::create_directories(path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  };
  static const Folder made;
  return made.path;
}

inline std::string put(const std::string& name, std::string_view bytes) {
  const std::string path = (folder() / name).string();
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// Makes a record with a valid checksum from a body; bytes that begin like a record are used as they are.
inline void put_record(const std::string& name, const std::string& kind, std::string_view body) {
  const std::string head =
      body.starts_with("flymc ") ? "" : fmt::format("flymc {} {} {}\n", kind, record_version, checksum(body));
  put(name, head + std::string(body));
}

// A run of two chains that has only settings. Without a manifest, as in earlier versions, the files that a target puts
// there count.
inline const RunDirectory& empty_run() {
  static const RunDirectory made = [] {
    Settings settings;
    settings.table = {"table.csv"};
    settings.target = "y";
    settings.fit.chains = 2;
    RunDirectory run = RunDirectory::create(folder() / "run", settings);
    std::filesystem::remove(run.path() / "manifest.json");
    return run;
  }();
  return made;
}

}  // namespace flymc::fuzz

#define FLYMC_FUZZ_TARGET(name)                                                             \
  static void name##_target(std::string_view input);                                        \
  [[maybe_unused]] static const bool name##_added = flymc::fuzz::add(#name, name##_target); \
  static void name##_target(std::string_view input)
