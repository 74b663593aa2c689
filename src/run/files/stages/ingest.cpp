// Stage 1 reads the table twice: to find out how columns become numbers, and to write the rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "../folder/clock.hpp"
#include "../folder/seen_files.hpp"
#include "../settings/encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "stages.hpp"

namespace flymc {
namespace {

// Checks the encoding before rows are written, because the fit would fail later and leave useless rows.
void check_fits(const Encoding& encoding, const Settings& settings) {
  const FamilyCard& card = family_card(settings.family);
  const std::size_t classes = encoding.target().classes.size(), features = encoding.feature_names().size();
  if (card.most_classes > 0 && classes > static_cast<std::size_t>(card.most_classes))
    throw InputError(
        fmt::format("the target '{}' has {} classes, and {} takes at most {}; merge the rare ones, or "
                    "choose another target",
                    settings.target, classes, card.name, card.most_classes));
  const auto predictors = static_cast<std::size_t>(card.predictors(static_cast<Index>(classes)));
  const std::size_t coefficients = features * predictors;
  if (coefficients > Encoding::most_features)
    throw InputError(
        fmt::format("there are {} coefficients ({} features, levels counted), and a fit takes at most {}: it keeps "
                    "matrices with a row and a column for each; leave out columns, or merge levels",
                    coefficients, features, Encoding::most_features));
}

// The table's files, as they are before they are read. All ranks must see the same.
std::vector<TableSource> sources_of(const Table& table, const Execution& execution) {
  const std::vector<std::string> files = table.files();
  const bool alone = execution.communicator.size() == 1;
  const std::uint64_t most = std::clamp<std::uint64_t>(2048 / files.size(), 2, 32);
  std::vector<TableSource> out(files.size());
  std::vector<SeenFile> seen(files.size());
  execution.threads.run(files.size(), [&](std::size_t f) {
    const std::uint64_t pieces = alone && is_address(files[f]) ? 2 : most;  // each is a request to the object store
    seen[f] = seen_table(files[f], pieces);
    out[f] = {files[f], seen[f].bytes, pieces, seen[f].hash};
  });
  check_all_see(seen, execution.communicator);
  return out;
}

// Says in the manifest which files have the rows. `written` has the number of rows in each.
void record_rows(const RunDirectory& directory, const std::vector<TableSource>& sources,
                 const std::vector<RowId>& written) {
  directory.record([&](Manifest& manifest) {
    manifest.rows = RowsEntry{{}, sources, ""};
    std::vector<std::size_t> all(sources.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto parts = static_cast<int>(written.size());
    for (int part = 0; part < parts; ++part)
      manifest.rows->parts.push_back(
          {name_of_rows(part, parts), written[static_cast<std::size_t>(part)], all, time_now()});
  });
}

// Writes this rank's share of the table to its part of the rows, and returns their number. Parts begin at block boundaries, so the first rows of
// a share, up to the next block, are sent to the rank before, which appends them to its last block.
RowId write_part(const Job& job, const Table& table, const Encoding& encoding, RowId before,
                 const Execution& execution) {
  const RunDirectory& directory = job.directory;
  const Communicator& communicator = execution.communicator;
  const int rank = communicator.rank(), ranks = communicator.size();
  const Settings& settings = directory.settings();
  const Layout layout = encoding.layout(settings.float32 ? NumberType::float32 : NumberType::float64);
  const std::size_t cells = layout.width();
  const auto block = static_cast<RowId>(StoreBuilder::rows_per_block(layout));
  RowId to_give = (block - before % block) % block;
  std::vector<double> given;
  StoreWriter writer(
      directory.rows(rank, ranks).string(),
      {.layout = layout,
       .kinds = encoding.fact_kinds(),
       .factors = encoding.group_factors(),
       .metadata = {{"encoding", encoding.to_json()}, {"part", fmt::format("{} of {}", rank + 1, ranks)}},
       .files = table.files()});
  std::map<std::string, std::int64_t, std::less<>> numbers;  // of the files, by name
  const std::vector<std::string> files = table.files();
  for (std::size_t i = 0; i < files.size(); ++i) numbers.emplace(files[i], static_cast<std::int64_t>(i));
  const Model model = make_model(settings, encoding);
  const BatchedFamily& family = model.family();
  // If a row of the table becomes two rows of the store, the first one records where it came from. The second one is
  // below a cut point other than the first, so its first cell is not 1 (data/cut_rows.hpp).
  const auto append = [&, ordered = encoding.target().cuts() > 0](std::span<const double> x, const RowFacts& facts,
                                                                  std::int64_t file, RowId row,
                                                                  std::span<const Group> groups) {
    const bool second = ordered && facts.target < 0.5 && x[0] != 1.0;
    second ? writer.append(x, facts, groups) : writer.append(x, facts, file, row, groups);
  };
  constexpr RowId now_and_then = 1 << 16;
  RowId written = 0;
  encoding.encode(table, execution, [&](const EncodedRow& row) {
    const auto& [x, facts, from, groups, keys] = row;
    if (++written % now_and_then == 0)
      job.monitor.progress(StageProgress{"writing rows", static_cast<double>(written),
                                         static_cast<double>(encoding.own_rows()), "rows"});
    if (family.first_problem({&facts.target, 1}) == 0)
      throw InputError(fmt::format("{}, column '{}', row {}: {} does not fit the {} family, which needs {}", from.file,
                                   encoding.target().name, from.row, facts.target, family.name(),
                                   family.target_problem(facts.target)));
    const std::int64_t file = numbers.find(from.file)->second;
    if (to_give == 0) return append(x, facts, file, from.row, groups);
    given.insert(given.end(), x.begin(), x.end());
    given.insert(given.end(),
                 {facts.target, facts.weight, facts.offset, static_cast<double>(file), static_cast<double>(from.row)});
    --to_give;
  });
  if (rank + 1 < ranks) {
    std::uint64_t size = 0;
    communicator.receive(std::as_writable_bytes(std::span(&size, 1)), rank + 1);
    std::vector<double> taken(size);
    communicator.receive(std::as_writable_bytes(std::span(taken)), rank + 1);
    for (std::size_t i = 0; i < taken.size(); i += cells + 5) {
      const double* facts = taken.data() + i + cells;
      append({taken.data() + i, cells}, {facts[0], facts[1], facts[2]}, static_cast<std::int64_t>(facts[3]),
             static_cast<RowId>(facts[4]), {});
    }
  }
  if (rank > 0) {
    const std::uint64_t size = given.size();
    communicator.send(std::as_bytes(std::span(&size, 1)), rank - 1);
    communicator.send(std::as_bytes(std::span(given)), rank - 1);
  }
  writer.finish();
  return writer.rows();
}

std::vector<std::string> left_out_index(const Table& table, const Encoding& encoding) {
  const std::vector<std::string> others = table.names_without_index();
  std::vector<std::string> out;
  for (const std::string& name : table.names())
    if (std::ranges::count(others, name) == 0 &&
        std::ranges::count(encoding.columns(), name, &EncodedColumn::name) == 0)
      out.push_back(name);
  return out;
}

}  // namespace

void ingest(const Job& job) {
  const RunDirectory& directory = job.directory;
  const Communicator& communicator = job.communicator();
  if (job.first()) check_base(directory);
  if (job.found([&] { return !directory.rows_files().empty(); })) return;
  if (!directory.settings().from.empty())
    throw InputError(
        fmt::format("{}: its rows are those of the run in {}, where they are not any more; bring them back, or fit the "
                    "table anew ({})",
                    directory.path().string(), directory.base().string(), mention_action("fit")));
  if (job.first()) {
    if (directory.manifest().rows) directory.record([](Manifest& manifest) { manifest.rows.reset(); });
    directory.remove_rows();
  }
  const Settings& settings = job.settings();
  const auto began = Clock::now();
  const Table table = Table::open(settings.table, table_options(settings));
  const std::vector<TableSource> sources = sources_of(table, job.execution);
  job.monitor.say(fmt::format("ingest: {} file{}, {:.1f} MiB", table.files().size(),
                              table.files().size() == 1 ? "" : "s", static_cast<double>(table.bytes()) / 1048576.0));
  const Encoding encoding = Encoding::learn(table, encoding_options(settings), job.execution, [&](RowId rows) {
    job.monitor.progress(StageProgress{"reading the table", static_cast<double>(rows),
                                       static_cast<double>(table.rows().value_or(0)), "rows"});
  });
  check_fits(encoding, settings);
  for (const std::string& name : left_out_index(table, encoding))
    job.monitor.say(fmt::format("        without '{}', the index of the pandas frame that the file is from", name));
  for (const EncodedColumn& column : encoding.columns())
    if (!column.rare.empty())
      job.monitor.say(fmt::format("        {}: {} levels of fewer than {} rows are '{}'", column.name,
                                  column.rare.size(), settings.merge_levels, column.merged));
  const auto names = coefficient_names(encoding, settings);
  check_coefficient_names(names);
  Model model = make_model(settings, encoding);  // the prior may name a column that does not exist
  if (!encoding.factors().empty()) {
    if (communicator.size() > 1)
      throw InputError(
          "models with groups run on the threads of one machine, not on several ranks; start it without mpirun");
    make_group_model(settings, encoding, std::move(model));
  }
  // Each rank writes a part if each has at least one block of rows. Otherwise the table is small, or cannot be split
  // into enough pieces, and the first rank writes it alone.
  const RowId own = encoding.own_rows();
  const std::vector<RowId> rows = gather_all(communicator, std::span<const RowId>(&own, 1));
  RowId before = 0;
  for (int r = 0; r < communicator.rank(); ++r) before += rows[static_cast<std::size_t>(r)];
  std::vector<RowId> written;  // here, on one rank or on each
  if (*std::min_element(rows.begin(), rows.end()) >= StoreBuilder::rows_per_block(encoding.layout()))
    written.push_back(write_part(job, table, encoding, before, job.execution));
  else if (job.first())
    written.push_back(write_part(job, table, encoding, 0, {job.execution.threads}));
  written = gather_all(communicator, std::span<const RowId>(written));  // when all parts exist
  if (job.first()) record_rows(directory, sources, written);
  job.wait_for_all();  // until the manifest says so
  job.monitor.say(
      fmt::format("        {} rows of {} features{}{}, {:.1f} s", encoding.rows(),
                  encoding.feature_names().size() - (encoding.target().ends_rows() ? 1 : 0),
                  encoding.dropped() ? fmt::format(" ({} rows dropped)", encoding.dropped()) : "",
                  encoding.target().zeros ? fmt::format(" ({} rows have a target of 0)", encoding.target().zeros) : "",
                  seconds_since(began)));
}

void check_table(const Settings& settings) {
  Encoding::feature_columns(Table::open(settings.table, table_options(settings)), encoding_options(settings));
}

void ingest(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator) {
  const Threads threads(directory.settings().fit.threads);
  ingest({directory, monitor, {threads, communicator}});
}

}  // namespace flymc
