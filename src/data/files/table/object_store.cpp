// Keeps one file system of Arrow open for each place, with its connections.
#include "object_store.hpp"

#include <arrow/filesystem/filesystem.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "arrow_status.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/table/source.hpp"
#include "paths.hpp"

namespace flymc {
namespace {

namespace arrow_fs = arrow::fs;

struct Address {
  std::string scheme, place, key, settings;  // settings include their '?'
  std::string without_key() const { return fmt::format("{}://{}", scheme, place); }
  std::string with(std::string_view other_key) const {
    return fmt::format("{}/{}{}", without_key(), other_key, settings);
  }
};

std::optional<std::string> from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return std::nullopt;
}

// Refuses secrets, because the run keeps its addresses. Also refuses settings that name a server, because resuming a
// stranger's run must not send requests there; only the place itself may name one.
void check_settings(const Address& address) {
  const std::string where = "set it in the environment, as for the store's own tools";
  if (const std::size_t at = address.place.find('@'); at != std::string::npos && address.place.find(':') < at)
    throw InputError(fmt::format("{}://...: the address contains a password or a key, which the run would keep; {}",
                                 address.scheme, where));
  for (std::size_t begin = 1; begin < address.settings.size();) {
    const std::size_t end = std::min(address.settings.find('&', begin), address.settings.size());
    const std::string name = address.settings.substr(begin, std::min(address.settings.find('=', begin), end) - begin);
    if (name != "region" && name != "project_id")
      throw InputError(fmt::format("{}://{}/{}: '{}' cannot be set in an address, only region and project_id can; {}",
                                   address.scheme, address.place, address.key, name, where));
    begin = end + 1;
  }
}

Address parse(const std::string& text) {
  const std::size_t scheme = text.find("://"), settings = without_settings(text).size();
  const std::size_t key = std::min(text.find('/', scheme + 3), settings);
  Address out{text.substr(0, scheme), text.substr(scheme + 3, key - scheme - 3), "", text.substr(settings)};
  if (key < settings) out.key = text.substr(key + 1, settings - key - 1);
  constexpr std::array stores = {"s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"};
  if (std::ranges::find(stores, out.scheme) == stores.end())
    throw InputError(
        fmt::format("{}: tables are read from files and from s3://, gs://, abfs:// and hdfs://; download it, and name "
                    "the file",
                    text));
  check_settings(out);
  return out;
}

// Finds the certificates of this system, because Arrow's libraries from PyPI were built on another one.
arrow_fs::FileSystemGlobalOptions certificates() {
  arrow_fs::FileSystemGlobalOptions out;
  if (const auto given = from_environment({"SSL_CERT_FILE", "AWS_CA_BUNDLE"})) {
    out.tls_ca_file_path = *given;
    return out;
  }
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (std::error_code none; std::filesystem::exists(file, none)) {
      out.tls_ca_file_path = file;
      break;
    }
  return out;
}

// Runs once in a process. S3 may be in a library of its own.
arrow::Status prepare() {
  static const arrow::Status status = [] {
    ARROW_RETURN_NOT_OK(arrow_fs::Initialize(certificates()));
#ifdef FLYMC_ARROW_S3
    ARROW_RETURN_NOT_OK(arrow_fs::LoadFileSystemFactories(FLYMC_ARROW_S3));
#endif
    return arrow::Status::OK();
  }();
  return status;
}

// The address's settings, completed from the environment: Arrow takes the region and the server of S3 from them only.
std::string settings_of(const Address& address) {
  std::string out = address.settings;
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value && out.find(fmt::format("{}=", name)) == std::string::npos)
      out += fmt::format("{}{}={}", out.empty() ? "?" : "&", name, *value);
  };
  // Without this, Google's library tries for 15 minutes.
  if (address.scheme == "gs" || address.scheme == "gcs") add("retry_limit_seconds", "10");
  if (address.scheme != "s3") return out;
  add("region", from_environment({"AWS_REGION", "AWS_DEFAULT_REGION"}));
  if (auto server = from_environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"})) {
    const std::size_t scheme = server->find("://");
    if (scheme != std::string::npos) add("scheme", server->substr(0, scheme));
    server = server->substr(scheme == std::string::npos ? 0 : scheme + 3);
    while (server->ends_with('/')) server->pop_back();
    add("endpoint_override", server);
  }
  return out;
}

struct Opened {
  std::shared_ptr<arrow_fs::FileSystem> system;
  std::string before;  // the path of the place in the file system, before a key
  std::string path(const std::string& key) const {
    std::string out = before + key;
    while (out.size() > 1 && out.ends_with('/')) out.pop_back();
    return out;
  }
};

std::string name_of(const Address& address) {
  return fmt::format("{}/x{}", address.without_key(), settings_of(address));
}

// The open file systems, by name. They must be closed before the process ends, or their libraries crash.
std::map<std::string, Opened>& open_places() {
  static auto* all = new std::map<std::string, Opened>;
  return *all;
}

void close_places() {
  open_places().clear();
  arrow_fs::EnsureFinalized();
}

arrow::Result<Opened> open_place(const Address& address) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::string name = name_of(address);
  if (const auto found = open_places().find(name); found != open_places().end()) return found->second;
  ARROW_RETURN_NOT_OK(prepare());
  Opened out;
  const auto system = arrow_fs::FileSystemFromUri(name, &out.before);
  // Registered after the library has started, so that it runs before the library's own exit handlers.
  std::atexit(close_places);
  ARROW_ASSIGN_OR_RAISE(out.system, system);
  if (!out.before.empty()) out.before.pop_back();  // the x
  return open_places().emplace(name, std::move(out)).first->second;
}

Opened place_of(const Address& address, const std::string& text, const char* what = "cannot be read") {
  auto opened = open_place(address);
  if (!opened.ok()) throw InputError(store_trouble(text, what, opened.status()));
  return *std::move(opened);
}

// The sizes that a listing gave for objects that are not yet opened, by address. The store is asked again for an object
// that is opened a second time, because it may have been replaced since.
class Listed {
 public:
  void add(const std::string& address, const arrow_fs::FileInfo& info) {
    const std::lock_guard lock(mutex_);
    all_.insert_or_assign(address, info);
  }
  std::optional<arrow_fs::FileInfo> find(const std::string& address, bool remove) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(address);
    if (found == all_.end()) return std::nullopt;
    arrow_fs::FileInfo info = found->second;
    if (remove) all_.erase(found);
    return info;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, arrow_fs::FileInfo> all_;
} listed;

bool is_pattern(std::string_view key) { return key.find_first_of("*?[") != std::string_view::npos; }

// The part of a key up to the last '/' before the first wildcard.
std::string folder_of_pattern(const std::string& key) {
  const std::size_t slash = key.substr(0, key.find_first_of("*?[")).rfind('/');
  return slash == std::string::npos ? "" : key.substr(0, slash);
}

std::vector<arrow_fs::FileInfo> list(const Opened& opened, const std::string& folder, bool recursive,
                                     const std::string& text) {
  arrow_fs::FileSelector all;
  all.base_dir = opened.path(folder);
  all.recursive = recursive;
  auto found = without_throwing([&] { return opened.system->GetFileInfo(all); });
  if (!found.ok()) throw InputError(store_trouble(text, "cannot be read", found.status()));
  return *std::move(found);
}

using Objects = std::map<std::string, arrow_fs::FileInfo>;  // by key

Objects matches(const Address& address, const Opened& opened, const std::string& text) {
  Objects out;
  const std::string folder = folder_of_pattern(address.key);
  const bool deeper = address.key.find('/', folder.empty() ? 0 : folder.size() + 1) != std::string::npos;
  for (const arrow_fs::FileInfo& one : list(opened, folder, deeper, text)) {
    const std::string key = one.path().substr(opened.before.size());
    if (!one.IsFile() || ::fnmatch(address.key.c_str(), key.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) continue;
    require_format(address.with(key));
    out.emplace(key, one);
  }
  if (out.empty())
    throw InputError(fmt::format("{}: no object matches this pattern; check the bucket and the spelling", text));
  return out;
}

Objects in_folder(const Address& address, const Opened& opened, const std::string& text) {
  Objects out;
  for (const arrow_fs::FileInfo& one : list(opened, address.key, false, text)) {
    if (is_hidden(one.base_name())) continue;
    if (one.IsDirectory())
      throw InputError(fmt::format("{}: holds the folder '{}'; name the objects with a pattern such as '{}/*.parquet'",
                                   text, one.base_name(), address.with(one.path().substr(opened.before.size()))));
    if (format_of(one.path()) != TableFormat::none) out.emplace(one.path().substr(opened.before.size()), one);
  }
  if (out.empty()) throw InputError(fmt::format("{}: the folder holds no object that is {}", text, table_formats));
  return out;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_source(const std::string& path) {
  if (!is_address(path)) {
    ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
    return file;
  }
  const Address address = parse(path);
  ARROW_ASSIGN_OR_RAISE(const Opened opened, open_place(address));
  return without_throwing([&] {
    const auto info = listed.find(path, true);
    return info ? opened.system->OpenInputFile(*info) : opened.system->OpenInputFile(opened.path(address.key));
  });
}

std::uint64_t bytes_of_source(const std::string& path) {
  if (const auto info = listed.find(path, false)) return static_cast<std::uint64_t>(info->size());
  return Source(path).bytes();
}

std::vector<std::string> list_objects(const std::string& text) {
  const Address address = parse(text);
  const Opened opened = place_of(address, text);
  const auto info = without_throwing([&] { return opened.system->GetFileInfo(opened.path(address.key)); });
  if (!info.ok()) throw InputError(store_trouble(text, "cannot be read", info.status()));
  if (info->IsFile()) {
    require_format(text);
    listed.add(text, *info);
    return {text};
  }
  if (!info->IsDirectory() && !is_pattern(address.key))
    throw InputError(fmt::format("{}: there is no such object, or no such bucket; check both names", text));
  std::vector<std::string> out;
  for (const auto& [key, object] :
       info->IsDirectory() ? in_folder(address, opened, text) : matches(address, opened, text)) {
    out.push_back(address.with(key));
    listed.add(out.back(), object);
  }
  return out;
}

OutputPlace output_place(const std::string& text) {
  constexpr std::array stores = {"s3", "gs", "gcs", "abfs", "abfss"};
  if (std::ranges::find(stores, text.substr(0, text.find("://"))) == stores.end())
    throw InputError(
        fmt::format("{}: output goes to files and to s3://, gs:// and abfs://; name a file, and copy it there", text));
  const Address address = parse(text);
  if (address.key.empty() || address.key.ends_with('/'))
    throw InputError(fmt::format("{}: names no object; add its name", text));
  const Opened opened = place_of(address, text, "cannot be written");
  const std::string path = opened.path(address.key);
  // Who may write need not be allowed to look.
  const auto info = without_throwing([&] { return opened.system->GetFileInfo(path); });
  if (info.ok() && info->IsDirectory())
    throw InputError(fmt::format("{}: is a folder, and output goes to an object; name one", text));
  return {opened.system, path, address.scheme == "s3"};
}

std::string store_trouble(const std::string& address, const char* what, const arrow::Status& status) {
  std::string why = arrow_message(status);
  // Azure's, behind what it was asked for and the name of a type.
  if (const std::size_t at = why.find("Failed to get token"); at != std::string::npos) why.erase(0, at);
  why = why.substr(0, why.find(" error_info={"));  // Google's, which says it all again
  const auto says = [&](std::initializer_list<const char*> words) {
    return std::ranges::any_of(words, [&](const char* word) { return why.find(word) != std::string::npos; });
  };
  const char* advice = "check the name and the connection";
  if (says({"ACCESS_DENIED", "Forbidden", "INVALID_ACCESS_KEY", "SIGNATURE_DOES_NOT_MATCH", "HTTP status 403",
            "PERMISSION_DENIED", "UNAUTHENTICATED", "AuthenticationFailed", "OAuth2 access token",
            "Failed to get token", "] 401 ", "] 403 "}))
    advice = "these rights do not suffice; set them in the environment, as for the store's own tools";
  else if (says({"NO_SUCH_BUCKET", "bucket does not exist", "ContainerNotFound", "bucket not found",
                 "No such file or directory"}))
    advice = "there is no such bucket, or no such object; check both names";
  else if (says({"NETWORK_CONNECTION", "curlCode", "Could not connect", "Fail to get a new connection", "timed out",
                 "UNAVAILABLE"}))
    advice = "the store was not reached, or the connection ended; check them, and try again";
  return fmt::format("{}: {} ({}); {}", address, what, why, advice);
}

std::optional<std::pair<std::string, std::string>> place_and_key(const std::string& path) {
  if (!is_address(path)) return std::nullopt;
  const Address address = parse(path);
  return std::pair{name_of(address), address.key};
}

Source::Source(const std::string& path) : path_(path) {
  const auto open = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(file_, open_source(path));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file_->GetSize());
    bytes_ = static_cast<std::uint64_t>(size);
    return arrow::Status::OK();
  };
  must_read(open(), path, "cannot be read");
}

void Source::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  const auto got =
      readable(file_->ReadAt(static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes.size()), bytes.data()),
               path_, "cannot be read");
  if (static_cast<std::size_t>(got) != bytes.size())
    throw InputError(fmt::format("{}: became shorter while it was read; let nobody write to it, and try again", path_));
}

}  // namespace flymc
