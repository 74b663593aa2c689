// A stable counting sort on threads: the places of items in the order of their keys, in time linear in items and keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "flymc/core/parallel.hpp"

namespace flymc {

// Items count from 0 over all pieces. Those with key k are order[begin[k]] ... order[begin[k + 1] - 1], ascending. If
// the keys ascend already, item i is at place i and `order` is empty.
template <class Place>
struct SortedPlaces {
  std::vector<std::uint64_t> begin;
  std::vector<Place> order;
  std::optional<std::uint64_t> stray;  // the first item whose key is not below `keys`; the lists are then empty
};

// The result does not depend on the number of threads. Each thread counts the keys of a chunk of the pieces. There are
// no more chunks than items per key, so that the counts take no more memory than the places. `Place` must hold the
// number of items.
template <class Place>
SortedPlaces<Place> sort_places(std::span<const std::span<const std::uint32_t>> pieces, std::uint32_t keys,
                                const Threads& threads) {
  struct Chunk {
    std::vector<Place> next;  // for each key, first the number of its items, then the place of the next one
    std::optional<std::uint32_t> lowest, last;
    bool ascends = true;
    std::optional<std::uint64_t> stray;
  };
  std::vector<std::uint64_t> first = {0};  // the first item of each piece
  for (const auto& piece : pieces) first.push_back(first.back() + piece.size());
  const std::uint64_t items = first.back();
  const std::size_t most = std::min(static_cast<std::size_t>(threads.count()), pieces.size());
  std::vector<Chunk> chunks(std::clamp<std::uint64_t>(items / std::max(keys, 1u), 1, std::max<std::size_t>(most, 1)));
  // Calls visit(item, key) for the items of a chunk, in order, until it returns false.
  const auto each = [&](std::size_t c, const auto& visit) {
    const std::size_t end = pieces.size() * (c + 1) / chunks.size();
    for (std::size_t p = pieces.size() * c / chunks.size(); p < end; ++p)
      for (std::size_t i = 0; i < pieces[p].size(); ++i)
        if (!visit(first[p] + i, pieces[p][i])) return;
  };

  threads.run(chunks.size(), [&](std::size_t c) {
    Chunk own;
    own.next.resize(keys);
    std::uint32_t before = 0;
    each(c, [&](std::uint64_t item, std::uint32_t key) {
      if (key >= keys) {
        own.stray = item;
        return false;
      }
      if (!own.lowest) own.lowest = key;
      own.ascends = own.ascends && before <= key;
      before = key;
      ++own.next[key];
      return true;
    });
    if (own.lowest) own.last = before;
    chunks[c] = std::move(own);
  });

  SortedPlaces<Place> out;
  bool ascends = true;
  std::uint32_t before = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.stray) {
      out.stray = chunk.stray;
      return out;
    }
    if (!chunk.lowest) continue;
    ascends = ascends && chunk.ascends && before <= *chunk.lowest;
    before = *chunk.last;
  }
  out.begin.resize(std::size_t{keys} + 1);
  for (std::size_t k = 0; k < keys; ++k) {
    std::uint64_t at = out.begin[k];
    for (Chunk& chunk : chunks) {
      const Place count = chunk.next[k];
      chunk.next[k] = static_cast<Place>(at);
      at += count;
    }
    out.begin[k + 1] = at;
  }
  if (ascends) return out;
  out.order.resize(items);
  threads.run(chunks.size(), [&](std::size_t c) {
    each(c, [&, next = chunks[c].next.data()](std::uint64_t item, std::uint32_t key) {
      out.order[next[key]++] = static_cast<Place>(item);
      return true;
    });
  });
  return out;
}

}  // namespace flymc
