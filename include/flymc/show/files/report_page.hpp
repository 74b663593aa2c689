// A finished run as one HTML file, which needs no network.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

struct ReportPageOptions {
  double interval = usual_interval;
  // How mentions of settings are spelled (core/mention.hpp).
  std::function<std::string(const std::string&)> spell = [](const std::string& text) { return text; };
  std::function<void(Index, Index)> of_how_many = nullptr;  // called after each coefficient
};

// Returns the page. Throws InputError if the run is not finished. A check that cannot be made (rows are missing, or
// weights are not whole numbers) is left out, and the page says why.
std::string report_page(const RunDirectory& run, const ReportPageOptions& options = {});
// Writes the page to a file; if `out` is empty, to report.html in the run's folder. Returns the file's path.
std::filesystem::path write_report_page(const RunDirectory& run, std::filesystem::path out,
                                        const ReportPageOptions& options = {});

}  // namespace flymc
