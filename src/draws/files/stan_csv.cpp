// Writes all chains in one scan of the draws, each to its own file.
#include "flymc/draws/files/stan_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "flymc/core/names.hpp"

namespace flymc {
namespace {

// A buffered text file, which appears with finish().
class TextFile {
 public:
  static constexpr std::size_t buffered_bytes = std::size_t{1} << 18;

  explicit TextFile(std::filesystem::path target)
      : target_(std::move(target)), pending_(target_), file_(std::fopen(pending_.path().c_str(), "wb")) {
    if (!file_) fail();
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // unbuffered, because this class buffers
  }

  template <class... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    if (text_.size() >= buffered_bytes) flush();
  }

  void finish() {
    flush();
    if (std::fclose(file_.release()) != 0) fail();
    pending_.commit();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void fail() const { cannot_write(target_, std::strerror(errno)); }

  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
    text_.clear();
  }

  std::filesystem::path target_;
  PendingFile pending_;  // declared first: outlives its writers
  std::unique_ptr<std::FILE, Close> file_;
  fmt::memory_buffer text_;
};

// ArviZ parses comments with these words as Stan's run information, and fails on anything else; an escaped letter stays
// readable for people.
std::string for_comment(std::string name) {
  for (const auto& [words, others] : {std::pair<std::string_view, std::string_view>{"seconds", "\\u0073econds"},
                                      {"inverse mass matrix", "inverse\\u0020mass matrix"}})
    for (std::size_t at = 0; (at = name.find(words, at)) != std::string::npos; at += others.size())
      name.replace(at, words.size(), others);
  return on_one_line(name, std::string::npos);
}

constexpr std::string_view algorithm = "firefly";

// Whether the file exists and has flymc's header.
bool is_of_flymc(const std::filesystem::path& path) {
  if (!no_file_but(path).empty()) return false;
  std::ifstream in(path);
  std::string line;
  for (int i = 0; i < 10 && std::getline(in, line); ++i)
    if (line == fmt::format("#     algorithm = {}", algorithm)) return true;
  return false;
}

void write_header(TextFile& file, const DrawsFile& draws, std::size_t chain, const std::vector<std::string>& columns,
                  const StanCsvOptions& options) {
  file.print("# model = {}\n# method = sample (Default)\n#   sample\n", for_comment(options.model));
  file.print("#     num_samples = {}\n", draws.draws(chain));
  if (options.warmup) file.print("#     num_warmup = {}\n", *options.warmup);
  file.print("#     save_warmup = 0\n#     thin = 1 (Default)\n#     algorithm = {}\n# id = {}\n", algorithm,
             draws.chain_number(chain) + 1);
  if (options.seed) file.print("# random\n#   seed = {}\n", *options.seed);
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j] != draws.names()[j]) file.print("# coefficient {} was {}\n", j + 1, for_comment(draws.names()[j]));
  file.print("lp__,accept_stat__,bright__,queries__");
  for (const auto& column : columns) file.print(",{}", column);
  file.print("\n");
}

}  // namespace

std::vector<std::string> stan_names(std::span<const std::string> names) {
  constexpr std::string_view special = ",.:;#'\"`\\";
  std::set<std::string> taken{"log_lik"};  // ArviZ removes log_lik from the posterior
  std::vector<std::string> result;
  for (std::string name : names) {
    for (char& c : name)
      if (special.find(c) != std::string_view::npos || static_cast<unsigned char>(c) < 0x20) c = '_';
    if (name.starts_with(' ')) name.front() = '_';
    if (name.ends_with(' ')) name.back() = '_';
    while (name.ends_with("__")) name.pop_back();
    std::string free = name;
    for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}_{}", name, i);
    result.push_back(std::move(free));
  }
  return result;
}

std::vector<std::filesystem::path> export_stan_csv(const DrawsFile& draws, const std::filesystem::path& prefix,
                                                   const StanCsvOptions& options) {
  const auto columns = stan_names(draws.names());
  std::vector<std::filesystem::path> paths;
  std::vector<std::unique_ptr<TextFile>> files;
  std::unordered_map<std::int32_t, TextFile*> file_of;
  for (std::size_t c = 0; c < draws.chains(); ++c) {
    paths.push_back(prefix.string() + fmt::format("_{}.csv", c + 1));
    files.push_back(std::make_unique<TextFile>(paths.back()));
    file_of[draws.chain_number(c)] = files.back().get();
    write_header(*files.back(), draws, c, columns, options);
  }
  draws.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      const DrawStats& stats = batch.stats[row];
      TextFile& file = *file_of.at(batch.chains[row]);
      file.print("{},{},{},{}", stats.log_density, stats.acceptance, stats.bright, stats.queries);
      for (Index j = 0; j < batch.theta.cols(); ++j) file.print(",{}", batch.theta(i, j));
      file.print("\n");
    }
  });
  for (auto& file : files) file->finish();
  // Readers would combine these files with files of an earlier export that had more chains, so those are removed.
  for (std::size_t c = draws.chains() + 1;; ++c) {
    const std::filesystem::path older = prefix.string() + fmt::format("_{}.csv", c);
    if (!is_of_flymc(older)) break;
    std::filesystem::remove(older);
  }
  return paths;
}

}  // namespace flymc
