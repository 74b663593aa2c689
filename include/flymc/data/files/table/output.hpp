// The output of a command: a file, or an object in a store such as s3://bucket/predictions.parquet.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace arrow {
class Status;
}
namespace arrow::io {
class OutputStream;
}

namespace flymc {

// An output that is being written: write to stream(), then commit(). Until the commit, what has this name stays as it was;
// without one, what was written is removed.
class PendingOutput {
 public:
  // Throws FileError if the file cannot be created, and InputError if the object cannot.
  explicit PendingOutput(const std::string& name);
  ~PendingOutput();
  PendingOutput(const PendingOutput&) = delete;
  PendingOutput& operator=(const PendingOutput&) = delete;

  const std::shared_ptr<arrow::io::OutputStream>& stream() const;
  // Throws like the constructor if a step of writing failed; an object's upload has then been ended.
  void require(const arrow::Status& status);
  // Closes the stream and replaces what has this name. Throws like the constructor.
  void commit();

  class Target;

 private:
  std::unique_ptr<Target> target_;
};

// The end of a name, as in ".parquet": of an address without the settings of its store.
std::string extension_of(const std::string& name);

// Calls `write` with the name of a file in a temporary folder, and makes the file that it writes the object of this
// address. For libraries that write to files alone.
void write_object(const std::string& address, const std::function<void(const std::filesystem::path& file)>& write);

}  // namespace flymc
