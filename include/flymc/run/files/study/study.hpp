// A study is what a person asked for: one fit, or several fits of parts of one target, in one folder.
//
// Most families are one fit, and the folder of the study is the folder of its run. A composite family (families.hpp) has
// a run per part, each in a folder inside the study's. The parts use different random numbers, so a draw of each part,
// side by side, is a draw of the whole. Whatever works on the whole (predict.hpp, leave_one_out.hpp) takes `runs()`;
// whatever is known part by part (summaries, checks, audits, reports, files of draws) goes over `parts()`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Returns the settings of the fits that a family needs, with the part of each. Throws InputError if a setting cannot be
// used.
std::vector<Settings> fits_of(const Settings& asked);
// The name of a part, what it explains, and its family; empty for settings of a whole target.
std::string heading_of(const Settings& fit);

class Study {
 public:
  struct Part {
    RunDirectory run;
    // The name of the part; empty if the study is one fit.
    const std::string& name() const { return run.settings().part; }
  };

  // Creates the folders of all fits, as RunDirectory::create does. If it replaces a study, the table is checked before.
  static Study create(const std::filesystem::path& folder, const Settings& asked, Existing existing = Existing::keep);
  // Creates a study that uses the rows of `base` (run_on_another.hpp). `change` changes the settings of each fit, which
  // are those of the base before.
  static Study create_on(const Study& base, const std::filesystem::path& folder,
                         const std::function<void(Settings&)>& change, Existing existing = Existing::keep);
  // Opens a folder. Throws InputError if it has no study.
  explicit Study(std::filesystem::path folder);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<Part>& parts() const { return parts_; }
  std::vector<const RunDirectory*> runs() const;
  // The settings of each part.
  std::vector<Settings> fits() const;
  // Moves the runs out.
  std::vector<RunDirectory> release() &&;

  // The file for a part's share of what is written as `out`: `out` itself if the study is one fit, else with the name of
  // the part, draws_zero.nc for draws.nc. Empty if `out` is.
  std::filesystem::path file_of(const Part& part, const std::filesystem::path& out) const;

 private:
  Study(std::filesystem::path folder, std::vector<Part> parts) : path_(std::move(folder)), parts_(std::move(parts)) {}

  std::filesystem::path path_;
  std::vector<Part> parts_;
};

}  // namespace flymc
