// Chunks of many large pages.
#include "flymc/core/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace flymc {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t large_page = std::size_t{1} << 21;
constexpr std::size_t chunk_size = 32 * large_page;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* Arena::allocate(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), line);
  if (bytes > left_) {
    // The first chunk is exactly as large as requested, in pages of the usual size, because many tables are small.
    const bool first = chunks_.empty();
    const std::size_t size = first ? bytes : std::max(chunk_size, round_up(bytes, large_page));
    void* chunk = std::aligned_alloc(first ? line : large_page, size);
    if (!chunk) throw std::bad_alloc();
    chunks_.emplace_back(chunk);
#ifdef MADV_HUGEPAGE
    if (!first) ::madvise(chunk, size, MADV_HUGEPAGE);  // a hint; without it memory is only slower
#endif
    next_ = static_cast<std::byte*>(chunk);
    left_ = size;
  }
  std::byte* out = next_;
  next_ += bytes;
  left_ -= bytes;
  return out;
}

}  // namespace flymc
