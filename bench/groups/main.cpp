// How long does it take to order a table by a grouping factor, and to find the rows of its groups?
//
//   flymc_groups [--rows 10000000] [--groups 1000000] [--features 10] [--memory 268435456] [--folder .]
//
// Makes up rows with a random group each. Writes a store in the order of the table and one in the order of the groups,
// makes the index of both on one thread and on all, and checks it before it prints seconds. Memory is that of the process
// itself, without pages of mapped files.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"
#include "flymc/data/files/store/ordered_store.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/data/group_index.hpp"

namespace {

using namespace flymc;

struct Asked {
  RowId rows = 10'000'000;
  Group groups = 1'000'000;
  Index features = 10;
  std::size_t memory = OrderedStoreWriter::usual_memory;
  std::string folder = ".";
};

double seconds(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Memory of the process itself, in MiB: RssAnon of /proc, because mapped files may be evicted.
double own_mebibytes() {
  ::malloc_trim(0);  // what was freed before does not count
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1024.0;
  return 0.0;
}

Group group_of(RowId row, Group groups) {
  const PhiloxRandom random(1, 0, 0);
  return static_cast<Group>(random.uniform(Purpose::simulate, static_cast<std::uint64_t>(row)) * groups);
}

// Throws std::logic_error unless the index leads to each row once, and to rows of the group.
void check(const Store& store, const GroupIndex& index) {
  RowId all = 0;
  for (Group group = 0; group < index.groups(); ++group) {
    const GroupRows rows = index.rows(group);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (store.group(rows[i], 0) != group || (i > 0 && rows[i] <= rows[i - 1]))
        throw std::logic_error("the index is wrong");
    all += static_cast<RowId>(rows.size());
  }
  if (all != store.rows()) throw std::logic_error("the index misses rows");
}

void time_index(const std::string& path, const char* order) {
  const StoreFile file = open_store(path, Verify::numbers);
  for (const int count : {1, 0}) {
    const Threads threads(count);
    GroupIndex index;
    const double before = own_mebibytes();
    const double taken = seconds([&] { index = GroupIndex(file.store, 0, {threads}); });
    const double kept = own_mebibytes() - before;
    check(file.store, index);
    fmt::print("index, rows in the order of the {}, {} thread{}: {:.2f} s, {:.0f} MiB\n", order, threads.count(),
               threads.count() == 1 ? "" : "s", taken, kept);
  }
}

void run(const Asked& asked) {
  std::vector<std::string> names;
  for (Index j = 0; j < asked.features; ++j) names.push_back(fmt::format("x{}", j));
  const StoreContents contents{.layout = Layout(names), .factors = {{"group", asked.groups}}, .files = {"table"}};
  const std::string plain = asked.folder + "/plain.arrow", ordered = asked.folder + "/ordered.arrow";
  std::vector<double> cells(static_cast<std::size_t>(asked.features), 1.0);
  const auto each_row = [&](auto&& append) {
    for (RowId row = 0; row < asked.rows; ++row) {
      cells[0] = static_cast<double>(row);
      append(row, group_of(row, asked.groups));
    }
  };
  std::vector<RowId> counts(asked.groups);
  const double made = seconds([&] { each_row([&](RowId, Group group) { ++counts[group]; }); });
  const double table = seconds([&] {
    StoreWriter writer(plain, contents);
    each_row([&](RowId row, Group group) { writer.append(cells, 0.0, 0, row + 1, {&group, 1}); });
    writer.finish();
  });
  fmt::print("{} rows, {} groups, a store of {:.0f} MiB\n", asked.rows, asked.groups,
             static_cast<double>(std::filesystem::file_size(plain)) / 1048576.0);
  fmt::print("written in the order of the table:  {:.1f} s\n", table - made);
  const double before = own_mebibytes();
  double most = 0.0;
  const double sorted = seconds([&] {
    OrderedStoreWriter writer(ordered, contents, 0, counts, asked.memory);
    each_row([&](RowId row, Group group) { writer.append(cells, 0.0, 0, row + 1, {&group, 1}); });
    most = own_mebibytes();
    writer.finish();
    most = std::max(most, own_mebibytes());
  });
  fmt::print("written in the order of the groups: {:.1f} s, {:.0f} MiB\n", sorted - made, most - before);
  time_index(plain, "table");
  time_index(ordered, "groups");
  std::filesystem::remove(plain);
  std::filesystem::remove(ordered);
}

template <class Number>
bool take(std::string_view flag, std::string_view name, const char* text, Number& out) {
  if (flag != name) return false;
  const std::string_view value = text;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc() || end != value.data() + value.size() || out < 1)
    throw InputError(fmt::format("{} needs a whole number of at least 1, and not '{}'", flag, value));
  return true;
}

}  // namespace

int main(int count, char** words) {
  try {
    Asked asked;
    for (int i = 1; i < count; i += 2) {
      const std::string_view flag = words[i];
      const char* value = i + 1 < count ? words[i + 1] : "";
      if (flag == "--folder")
        asked.folder = value;
      else if (!take(flag, "--rows", value, asked.rows) && !take(flag, "--groups", value, asked.groups) &&
               !take(flag, "--features", value, asked.features) && !take(flag, "--memory", value, asked.memory))
        throw InputError(fmt::format("there is no {}", flag));
    }
    run(asked);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
