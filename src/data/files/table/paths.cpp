// Patterns are as in the shell; a name that exists is never taken as a pattern.
#include "paths.hpp"

#include <arrow/util/utf8.h>
#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "object_store.hpp"

namespace flymc {
namespace {

namespace fs = std::filesystem;

void add_folder(const std::string& folder, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_hidden(entry->path().filename().string())) continue;
    // Rows in a folder that is passed over would be missed without a sign.
    if (entry->is_directory())
      throw InputError(fmt::format("{}: holds the folder '{}'; name the files with a pattern such as '{}/*/*.parquet'",
                                   folder, entry->path().filename().string(), folder));
    if (format_of(entry->path().string()) != TableFormat::none) found.push_back(entry->path().string());
  }
  if (error) throw InputError(fmt::format("{}: cannot be listed ({}); check its permissions", folder, error.message()));
  if (found.empty()) throw InputError(fmt::format("{}: the folder holds no file that is {}", folder, table_formats));
  std::ranges::sort(found);
  files.insert(files.end(), found.begin(), found.end());
}

// Settings and rows keep the names of files as UTF-8 text.
void check_name(const std::string& path) {
  arrow::util::InitializeUTF8();
  if (arrow::util::ValidateUTF8(path)) return;
  std::string shown;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  throw InputError(
      fmt::format("{}: the name of the file or of its folder is not UTF-8; rename it, or name a link to it", shown));
}

void add_path(const std::string& path, std::vector<std::string>& files) {
  if (fs::is_directory(path)) return add_folder(path, files);
  require_readable(path);
  require_format(path);
  files.push_back(path);
}

void add_pattern(const std::string& pattern, std::vector<std::string>& files) {
  ::glob_t matches{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<std::string> found;
  for (std::size_t i = 0; status == 0 && i < matches.gl_pathc; ++i) found.emplace_back(matches.gl_pathv[i]);
  ::globfree(&matches);
  if (found.empty())
    throw InputError(fmt::format("{}: no file matches this pattern; check the folder and the spelling", pattern),
                     {.file = pattern}, InputError::Kind::missing_file);
  // The C library sorts by the locale; bytes are the same everywhere.
  std::ranges::sort(found);
  for (const auto& path : found) add_path(path, files);
}

}  // namespace

// The last '?' begins settings if a name and '=' follow; otherwise it is part of a pattern.
std::string without_settings(const std::string& path) {
  const std::size_t mark = is_address(path) ? path.rfind('?') : std::string::npos;
  if (mark == std::string::npos) return path;
  const std::size_t end = path.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", mark + 1);
  return end != std::string::npos && end > mark + 1 && path[end] == '=' ? path.substr(0, mark) : path;
}

TableFormat format_of(const std::string& path) {
  std::string name = without_settings(path);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool compressed = name.ends_with(".gz");
  if (compressed) name.resize(name.size() - 3);
  const auto ends = [&](std::initializer_list<const char*> endings) {
    return std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); });
  };
  if (ends({".csv", ".tsv", ".txt"})) return TableFormat::csv;
  if (compressed) return TableFormat::none;
  if (ends({".parquet", ".pq"})) return TableFormat::parquet;
  if (ends({".arrow", ".ipc", ".feather"})) return TableFormat::ipc;
  return TableFormat::none;
}

void require_format(const std::string& path) {
  if (format_of(path) == TableFormat::none)
    throw InputError(fmt::format("{}: the end of the name says no known format; a table is {}", path, table_formats));
}

bool is_hidden(const std::string& name) { return name.starts_with('.') || name.starts_with('_'); }

std::vector<std::string> expand_paths(const std::vector<std::string>& paths) {
  if (paths.empty()) throw InputError("no file was named; name a file, a pattern such as 'part-*.csv', or a folder");
  std::vector<std::string> files;
  for (const auto& path : paths) {
    check_name(path);
    if (is_address(path))
      std::ranges::copy(list_objects(path), std::back_inserter(files));
    else if (!fs::exists(path) && path.find_first_of("*?[") != std::string::npos)
      add_pattern(path, files);
    else
      add_path(path, files);
  }
  std::set<fs::path> seen;
  for (const auto& file : files) check_name(file);
  for (const auto& file : files)
    if (!seen.insert(is_address(file) ? fs::path(file) : fs::weakly_canonical(file)).second)
      throw InputError(fmt::format("{}: is named twice, and its rows would count twice; name it once", file));
  for (const auto& file : files)
    if (const std::string kind = is_address(file) ? "" : no_file_but(file); !kind.empty())
      throw InputError(
          fmt::format("{}: is {}, and a table is read more than once; write it to a file, and name that", file, kind));
  return files;
}

void require_readable(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return;
  const int error = errno;
  throw InputError(
      fmt::format("{}: cannot be read ({}); check the name and its permissions", path, std::strerror(error)),
      {.file = path}, error == ENOENT ? InputError::Kind::missing_file : InputError::Kind::input);
}

}  // namespace flymc
