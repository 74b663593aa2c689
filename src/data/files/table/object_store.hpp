// Objects in stores (s3://, gs://, abfs://, hdfs://), by Arrow's file systems.
//
// An address is SCHEME://PLACE/KEY, perhaps with settings of the store at its end (?region=...). A key is taken
// literally and not decoded. Credentials come from where the store's own tools take them, above all from the
// environment.
#pragma once

#include <arrow/filesystem/type_fwd.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace flymc {

// Returns the result of a step, with exceptions as errors. Azure's library throws if it gets no token, and Arrow lets some of that through.
template <class Step>
auto without_throwing(const Step& step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return arrow::Status::IOError(error.what());
  }
}

// A file or an object, for reading.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_source(const std::string& path);

// The size of a file or an object; for an object that was listed, the size in the list. Throws InputError if it cannot
// be read.
std::uint64_t bytes_of_source(const std::string& path);

// The addresses of an object, of those that match a pattern, or of those in a folder, sorted. In a folder, names that
// begin with '.' or '_' and other formats are passed over, as of folders of files. Throws InputError if there are none.
std::vector<std::string> list_objects(const std::string& address);

// Where an object is written: the store, and the key in the store's own paths.
struct OutputPlace {
  std::shared_ptr<arrow::fs::FileSystem> system;
  std::string path;
  bool aborts = false;  // whether a stream that is aborted leaves the object as it was
};
// Throws InputError if the address has no key, is a folder's, or is in no store that is written to.
OutputPlace output_place(const std::string& address);

}  // namespace flymc
