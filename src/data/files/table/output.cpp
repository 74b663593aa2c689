// Objects replace each other at once, or not at all, whatever a store shows of an upload.
#include "flymc/data/files/table/output.hpp"

#include <arrow/filesystem/filesystem.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "arrow_status.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "object_store.hpp"
#include "paths.hpp"

namespace flymc {

class PendingOutput::Target {
 public:
  virtual ~Target() = default;
  virtual void require(const arrow::Status& status) = 0;
  virtual void commit() = 0;
  std::shared_ptr<arrow::io::OutputStream> stream;
};

namespace {

class FileTarget final : public PendingOutput::Target {
 public:
  explicit FileTarget(const std::string& name) : name_(name), pending_(name) {
    stream = writable(arrow::io::FileOutputStream::Open(pending_.path().string()), name_);
  }
  void require(const arrow::Status& status) override { must_write(status, name_); }
  void commit() override {
    require(stream->Close());
    pending_.commit();
  }

 private:
  std::filesystem::path name_;
  PendingFile pending_;
};

// S3 shows an object when its upload is complete, and an upload can be aborted. Arrow's streams to other stores begin with
// an empty object (Azure), or complete it also when they are aborted (Google), so they write to a key beside, from which
// the store makes a copy.
class ObjectTarget final : public PendingOutput::Target {
 public:
  explicit ObjectTarget(const std::string& address) : address_(address), place_(output_place(address)) {
    written_ = place_.aborts ? place_.path : fmt::format("{}.{:08x}.partial", place_.path, std::random_device()());
    auto opened = without_throwing([&] { return place_.system->OpenOutputStream(written_); });
    if (!opened.ok()) throw InputError(store_trouble(address_, "cannot be written", opened.status()));
    stream = *std::move(opened);
  }
  ~ObjectTarget() override {
    if (!ended_) end();
  }

  void require(const arrow::Status& status) override {
    if (status.ok()) return;
    check_memory(status, address_);
    const std::string trouble = store_trouble(address_, "cannot be written", status);
    throw InputError(fmt::format("{}; {}", trouble, end()));
  }

  void commit() override {
    // Waits for the parts that are on their way: a stream whose Close() fails can no longer be aborted.
    if (place_.aborts) require(stream->Flush());
    require(without_throwing([&] { return stream->Close(); }));
    if (!place_.aborts) require(without_throwing([&] { return place_.system->CopyFile(written_, place_.path); }));
    ended_ = true;
    if (place_.aborts) return;
    if (const arrow::Status removed = remove(); !removed.ok())
      throw InputError(fmt::format("{}: is written, but {} beside it cannot be removed ({}); remove it", address_,
                                   written_, arrow_message(removed)));
  }

 private:
  arrow::Status remove() {
    return without_throwing([&] { return place_.system->DeleteFile(written_); });
  }

  // Removes what was written. Says what is left.
  std::string end() {
    if (std::exchange(ended_, true)) return "nothing was changed";
    const bool could_abort = !stream->closed();
    const arrow::Status aborted = without_throwing([&] { return stream->Abort(); });
    if (place_.aborts ? could_abort && aborted.ok() : remove().ok()) return "nothing was changed";
    // The destructor of a stream that could not be aborted would try to complete the object.
    static auto* const kept = new std::vector<std::shared_ptr<arrow::io::OutputStream>>;
    kept->push_back(stream);
    return place_.aborts ? "nothing was changed, but the upload could not be ended, and a rule of the bucket or the "
                           "store's own tools should remove its parts"
                         : fmt::format("nothing was changed, but {} may be left; remove it", written_);
  }

  std::string address_;
  OutputPlace place_;
  std::string written_;  // the path that the stream writes to
  bool ended_ = false;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "flymc-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) cannot_write(name, std::strerror(errno));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

std::unique_ptr<PendingOutput::Target> target_of(const std::string& name) {
  if (is_address(name)) return std::make_unique<ObjectTarget>(name);
  return std::make_unique<FileTarget>(name);
}

}  // namespace

PendingOutput::PendingOutput(const std::string& name) : target_(target_of(name)) {}
PendingOutput::~PendingOutput() = default;

const std::shared_ptr<arrow::io::OutputStream>& PendingOutput::stream() const { return target_->stream; }
void PendingOutput::require(const arrow::Status& status) { target_->require(status); }
void PendingOutput::commit() { target_->commit(); }

std::string extension_of(const std::string& name) {
  return std::filesystem::path(without_settings(name)).extension().string();
}

void write_object(const std::string& address, const std::function<void(const std::filesystem::path& file)>& write) {
  PendingOutput output(address);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path / std::filesystem::path(without_settings(address)).filename();
  write(file);
  each_piece(file, [&](std::string_view piece) {
    output.require(output.stream()->Write(piece.data(), static_cast<std::int64_t>(piece.size())));
  });
  output.commit();
}

}  // namespace flymc
