// Defines groups and variables at their full size, then fills them by slabs while the draws stream by.
//
// HDF5, the basis of NetCDF, may crash when it closes a file after the disk became full. So the space is allocated
// before HDF5 opens the file, and a file that fails nevertheless is left open instead of closed.
#include "flymc/draws/files/netcdf.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flymc/version.hpp"

namespace flymc {
namespace {

using Attributes = std::map<std::string, std::string>;

// Reserves so many bytes for a new file. Returns 0, or an error of errno.
int reserve(int file, std::int64_t bytes) {
#ifdef __APPLE__
  fstore_t wanted{.fst_flags = F_ALLOCATEALL,
                  .fst_posmode = F_PEOFPOSMODE,
                  .fst_offset = 0,
                  .fst_length = bytes,
                  .fst_bytesalloc = 0};
  return ::fcntl(file, F_PREALLOCATE, &wanted) == 0 ? 0 : errno;
#else
  return ::posix_fallocate(file, 0, bytes);
#endif
}

// Throws unless the disk has so many bytes for this file.
void require_space(const std::filesystem::path& path, const std::filesystem::path& target, std::int64_t bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) cannot_write(target, std::strerror(errno));
  const int error = reserve(file, bytes);
  ::close(file);
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) cannot_write(target, std::strerror(error));
}

// A NetCDF file while it is written.
class NetcdfFile {
 public:
  NetcdfFile(std::filesystem::path target, std::int64_t bytes) : target_(std::move(target)), pending_(target_) {
    require_space(pending_.path(), target_, bytes);
    pending_.unlock();  // HDF5 locks the file itself
    check(nc_create(pending_.path().c_str(), NC_NETCDF4 | NC_CLOBBER, &root_));
    open_ = true;
  }
  ~NetcdfFile() {
    if (open_) nc_close(root_);  // the draws could not be read; nc_abort would unlink the file, as pending_ does
  }
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  int root() const { return root_; }

  void check(int status) {
    if (status == NC_NOERR) return;
    open_ = false;
    cannot_write(target_, nc_strerror(status));
  }

  int group(const char* name) {
    int id = 0;
    check(nc_def_grp(root_, name, &id));
    return id;
  }

  int dimension(int group, const std::string& name, std::size_t size) {
    int id = 0;
    check(nc_def_dim(group, name.c_str(), size, &id));
    return id;
  }

  // Contiguous, because the size is known and noise hardly compresses: a slab is one write, and no chunk cache is
  // needed.
  int variable(int group, const std::string& name, nc_type type, const std::vector<int>& dimensions) {
    int id = 0;
    check(nc_def_var(group, name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    check(nc_def_var_chunking(group, id, NC_CONTIGUOUS, nullptr));
    if (type != NC_STRING) check(nc_def_var_fill(group, id, NC_NOFILL, nullptr));
    return id;
  }

  // A dimension and the variable of the same name that labels it with 0, 1, ...
  int numbered_dimension(int group, const std::string& name, std::size_t size) {
    const int id = dimension(group, name, size);
    std::vector<long long> values(size);
    std::iota(values.begin(), values.end(), 0LL);
    check(nc_put_var_longlong(group, variable(group, name, NC_INT64, {id}), values.data()));
    return id;
  }

  void attribute(int group, const std::string& name, const std::string& value) {
    const char* text = value.c_str();
    check(nc_put_att_string(group, NC_GLOBAL, name.c_str(), 1, &text));
  }

  void finish() {
    open_ = false;
    check(nc_close(root_));
    pending_.commit();
  }

 private:
  std::filesystem::path target_;
  PendingFile pending_;  // declared first: outlives its writers
  int root_ = 0;
  bool open_ = false;
};

// The attributes that the schema needs in every group.
Attributes all_attributes(const DrawsFile& draws, const NetcdfOptions& options) {
  Attributes attributes = options.attributes;
  attributes.insert(draws.metadata().begin(), draws.metadata().end());
  attributes["created_at"] = options.created_at.empty()
                                 ? fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", fmt::gmtime(std::time(nullptr)))
                                 : options.created_at;
  for (const char* library : {"inference_library", "creation_library"}) {
    attributes[library] = "flymc";
    attributes[std::string(library) + "_version"] = FLYMC_VERSION;
  }
  attributes["creation_library_language"] = "C++";
  return attributes;
}

void add_attributes(NetcdfFile& file, int group, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) file.attribute(group, name, value);
}

// A group whose variables are indexed by chain and draw.
struct SampleGroup {
  int id, chain, draw;

  SampleGroup(NetcdfFile& file, const char* name, const DrawsFile& draws, const Attributes& attributes,
              const NetcdfOptions& options)
      : id(file.group(name)), chain(file.dimension(id, "chain", draws.chains())) {
    add_attributes(file, id, attributes);
    if (options.sampling_seconds)
      file.check(nc_put_att_double(id, NC_GLOBAL, "sampling_time", NC_DOUBLE, 1, &*options.sampling_seconds));
    if (options.warmup) {
      const long long steps = *options.warmup;
      file.check(nc_put_att_longlong(id, NC_GLOBAL, "tuning_steps", NC_INT64, 1, &steps));
    }
    std::vector<long long> numbers(draws.chains());
    for (std::size_t c = 0; c < numbers.size(); ++c) numbers[c] = draws.chain_number(c);
    file.check(nc_put_var_longlong(id, file.variable(id, "chain", NC_INT64, {chain}), numbers.data()));
    draw = file.numbered_dimension(id, "draw", static_cast<std::size_t>(draws.draws(0)));
  }
};

void write_names(NetcdfFile& file, int group, int dimension, const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const auto& name : names) texts.push_back(name.c_str());
  file.check(nc_put_var_string(group, file.variable(group, "coefficient", NC_STRING, {dimension}), texts.data()));
}

void write_observed(NetcdfFile& file, const ObservedData& observed, const Attributes& attributes) {
  const int group = file.group("observed_data");
  add_attributes(file, group, attributes);
  const int dimension = file.numbered_dimension(group, observed.name + "_dim_0", observed.values.size());
  const int variable = file.variable(group, observed.name, NC_DOUBLE, {dimension});
  file.check(nc_put_var_double(group, variable, observed.values.data()));
}

// An upper limit of the file's size: its arrays, its names and attributes in every group, and HDF5's overhead.
std::int64_t expected_bytes(const DrawsFile& draws, const NetcdfOptions& options, const Attributes& attributes) {
  const auto chains = static_cast<std::int64_t>(draws.chains());
  std::int64_t bytes = chains * draws.draws(0) * (draws.coefficients() + 4) * 8 + 2 * (chains + draws.draws(0)) * 8;
  if (options.observed) bytes += static_cast<std::int64_t>(options.observed->values.size()) * 16;
  for (const auto& name : draws.names()) bytes += 64 + static_cast<std::int64_t>(name.size());
  for (const auto& [name, value] : attributes)
    bytes += 4 * (256 + static_cast<std::int64_t>(name.size() + value.size()));
  return bytes + (std::int64_t{1} << 17);
}

// The sampler's variables.
struct Statistics {
  int group, lp, acceptance_rate, bright, queries;
};

// The rows of a batch that belong to one chain, and the number of its draws written before.
struct ChainRows {
  RowMatrix theta;
  std::vector<double> log_density, acceptance;
  std::vector<long long> bright, queries;
  std::size_t written = 0;

  void collect(const DrawsBatch& batch, const std::vector<Index>& rows) {
    theta = batch.theta(rows, Eigen::all);
    log_density.clear(), acceptance.clear(), bright.clear(), queries.clear();
    for (const Index row : rows) {
      const DrawStats& stats = batch.stats[static_cast<std::size_t>(row)];
      log_density.push_back(stats.log_density);
      acceptance.push_back(stats.acceptance);
      bright.push_back(stats.bright);
      queries.push_back(stats.queries);
    }
  }

  void write(NetcdfFile& file, int posterior, int theta_id, const Statistics& stats, std::size_t chain) {
    const std::array<std::size_t, 3> start{chain, written, 0};
    const std::array<std::size_t, 3> count{1, log_density.size(), static_cast<std::size_t>(theta.cols())};
    if (theta.size() > 0) file.check(nc_put_vara_double(posterior, theta_id, start.data(), count.data(), theta.data()));
    file.check(nc_put_vara_double(stats.group, stats.lp, start.data(), count.data(), log_density.data()));
    file.check(nc_put_vara_double(stats.group, stats.acceptance_rate, start.data(), count.data(), acceptance.data()));
    file.check(nc_put_vara_longlong(stats.group, stats.bright, start.data(), count.data(), bright.data()));
    file.check(nc_put_vara_longlong(stats.group, stats.queries, start.data(), count.data(), queries.data()));
    written += log_density.size();
  }
};

void require_rectangle(const DrawsFile& draws) {
  if (draws.chains() == 0)
    throw InputError(fmt::format("{}: there are no draws to export; sample first", draws.parts().front().string()));
  for (std::size_t c = 1; c < draws.chains(); ++c)
    if (draws.draws(c) != draws.draws(0))
      throw InputError(
          fmt::format("{}: chain {} has {} draws and chain {} has {}, and NetCDF holds chains of one length; "
                      "finish the run, or export to Stan CSV",
                      draws.parts().front().string(), draws.chain_number(c), draws.draws(c), draws.chain_number(0),
                      draws.draws(0)));
}

}  // namespace

void export_netcdf(const DrawsFile& draws, const std::filesystem::path& path, const NetcdfOptions& options) {
  require_rectangle(draws);
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);

  const Attributes attributes = all_attributes(draws, options);
  NetcdfFile file(path, expected_bytes(draws, options, attributes));
  add_attributes(file, file.root(), attributes);
  const SampleGroup posterior(file, "posterior", draws, attributes, options);
  const int coefficient = file.dimension(posterior.id, "coefficient", draws.names().size());
  write_names(file, posterior.id, coefficient, draws.names());
  const int theta = file.variable(posterior.id, "theta", NC_DOUBLE, {posterior.chain, posterior.draw, coefficient});
  const SampleGroup sample(file, "sample_stats", draws, attributes, options);
  const auto statistic = [&](const char* name, nc_type type) {
    return file.variable(sample.id, name, type, {sample.chain, sample.draw});
  };
  const Statistics statistics{sample.id, statistic("lp", NC_DOUBLE), statistic("acceptance_rate", NC_DOUBLE),
                              statistic("bright", NC_INT64), statistic("queries", NC_INT64)};
  if (options.observed) write_observed(file, *options.observed, attributes);

  std::unordered_map<std::int32_t, std::size_t> place;
  for (std::size_t c = 0; c < draws.chains(); ++c) place[draws.chain_number(c)] = c;
  std::vector<ChainRows> chains(draws.chains());
  std::vector<std::vector<Index>> rows(draws.chains());
  draws.scan([&](const DrawsBatch& batch) {
    for (auto& list : rows) list.clear();
    for (std::size_t i = 0; i < batch.chains.size(); ++i)
      rows[place.at(batch.chains[i])].push_back(static_cast<Index>(i));
    for (std::size_t c = 0; c < rows.size(); ++c) {
      if (rows[c].empty()) continue;
      chains[c].collect(batch, rows[c]);
      chains[c].write(file, posterior.id, theta, statistics, c);
    }
  });
  file.finish();
}

}  // namespace flymc
