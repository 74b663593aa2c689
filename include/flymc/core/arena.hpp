// Memory for a table in memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace flymc {

// Handed out piece by piece and given back all at once, when the arena goes. Pieces of large chunks, which the system
// is asked to keep in large pages: a row at random in a table of any size is then found without first looking up where
// its page is. What is handed out but never touched takes no memory.
class Arena {
 public:
  // At the start of a cache line.
  void* allocate(std::size_t bytes);

 private:
  struct Free {
    void operator()(void* chunk) const { std::free(chunk); }
  };
  std::vector<std::unique_ptr<void, Free>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace flymc
