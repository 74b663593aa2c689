// Folders that remove themselves, files written for a test, and the message of an error.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "problems/message_of.hpp"

namespace flymc {

class Folder {
 public:
  Folder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("flymc-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator()(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  // Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return (*this)(name);
  }

 private:
  std::filesystem::path path_;
};

using problems::message_of;

// Whether each part occurs in the text; says which one does not.
inline ::testing::AssertionResult says(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts)
    if (text.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "'" << part << "' is not in: " << text;
  return ::testing::AssertionSuccess();
}

}  // namespace flymc
