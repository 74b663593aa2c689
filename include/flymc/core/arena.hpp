// Memory for a table in memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace flymc {

// Hands out memory piece by piece, and frees all of it when the arena is destroyed. The pieces are cut from large
// chunks, which the system is asked to keep in large pages: a random row of a table of any size is then found without a
// page-table lookup. Memory that is handed out but never touched takes no space.
class Arena {
 public:
  // Returns memory that starts on a cache line. Throws std::bad_alloc.
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
