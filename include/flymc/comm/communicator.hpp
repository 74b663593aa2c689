// Ranks: processes that share out the blocks of one table. Alone, every operation is a no-op.
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
  // From one rank to another.
  virtual void send(std::span<const std::byte> bytes, int to) const = 0;
  virtual void receive(std::span<std::byte> bytes, int from) const = 0;
  // Replaces the bytes of every rank, of which there are as many everywhere, by those of rank `from`.
  virtual void broadcast(std::span<std::byte> bytes, int from) const = 0;
  // What every rank gives, in the order of the ranks. Fast where all give little.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) const = 0;

  // A rank without others.
  static const Communicator& alone();
};

// What every rank gives, one after the other.
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

// Whether it is so on any rank.
bool any(const Communicator& communicator, bool here);

// Consecutive things, blocks as a rule, of which a rank has some: the first ... last - 1.
struct Share {
  std::size_t first = 0, last = 0;
  bool empty() const { return first == last; }
  bool contains(std::size_t i) const { return first <= i && i < last; }
};
// What a rank has of `count` things; as evenly as can be, in the order of the ranks.
Share share_of(std::size_t count, const Communicator& communicator, int rank);
Share own_share(std::size_t count, const Communicator& communicator);
// Who has thing `i` of them.
int owner_of(std::size_t i, std::size_t count, const Communicator& communicator);

}  // namespace flymc
