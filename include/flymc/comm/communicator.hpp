// Ranks: processes that share out the blocks of one table. With one process every operation is a no-op.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace flymc {

// Every rank calls the same operations in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Sends bytes from one rank to another.
  virtual void send(std::span<const std::byte> bytes, int to) const = 0;
  virtual void receive(std::span<std::byte> bytes, int from) const = 0;
  // Replaces the bytes of every rank by those of rank `from`. All ranks have the same number of bytes.
  virtual void broadcast(std::span<std::byte> bytes, int from) const = 0;
  // Returns the bytes of every rank, in the order of the ranks. Fast if every rank has few.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) const = 0;

  // The communicator of a single process.
  static const Communicator& alone();
};

// The values of every rank, in the order of the ranks.
template <class T>
std::vector<T> gather_all(const Communicator& communicator, std::span<const T> own) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (communicator.size() == 1) return {own.begin(), own.end()};
  std::vector<T> out;
  for (const std::vector<std::byte>& part : communicator.gather(std::as_bytes(own))) {
    const auto* values = reinterpret_cast<const T*>(part.data());
    out.insert(out.end(), values, values + part.size() / sizeof(T));
  }
  return out;
}

// Whether `here` is true on any rank.
bool any(const Communicator& communicator, bool here);

// A range first ... last - 1 of things, usually blocks, that belongs to one rank.
struct Share {
  std::size_t first = 0, last = 0;
  bool empty() const { return first == last; }
  bool contains(std::size_t i) const { return first <= i && i < last; }
};
// The share that a rank has of `count` things. Shares are as equal as possible, in the order of the ranks.
Share share_of(std::size_t count, const Communicator& communicator, int rank);
Share own_share(std::size_t count, const Communicator& communicator);
// The rank that has thing `i` of `count`.
int owner_of(std::size_t i, std::size_t count, const Communicator& communicator);

}  // namespace flymc
