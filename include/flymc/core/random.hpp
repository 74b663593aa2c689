// Random numbers by address: the number at an address does not depend on what was drawn before.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace flymc {

// The purpose of a random number. Two purposes never share a number. The values are part of the reproducibility of a
// seed: append, never renumber.
enum class Purpose : std::uint32_t {
  start = 0,          // where a chain begins
  pick = 1,           // rows that an explicit sweep visits
  gibbs = 2,          // their new z
  skip = 3,           // dark rows that an implicit sweep proposes
  brighten = 4,       // their acceptance
  darken = 5,         // acceptance of bright rows that propose to go dark
  move = 6,           // a theta move's proposal or direction
  accept = 7,         // its acceptance
  slice_height = 8,   // slice sampling: the level,
  slice_place = 9,    //   the first interval's position,
  slice_limit = 10,   //   how the steps are split between both sides,
  slice_shrink = 11,  //   and the points tried
  simulate = 12,      // synthetic data
  subsample = 13,     // rows on which the anchor is sought first
  propose = 14,       // rows that a sweep by rows proposes
  angle = 15,         // how far a split Hamiltonian trajectory turns
  check = 16,         // rows by which a run checks its z
  unseen = 17,        // effects of a group that the fit has not seen
};

// A source of addressed random numbers. Every call names (purpose, index), where the index is a row, a block, a
// coordinate or a counter. The same address always gives the same number: there is no state, calls may come in any
// order and from any thread, and an address must not be used for two decisions. The functions are virtual so that a
// test can take every branch of a kernel in turn instead of drawing.
class Random {
 public:
  virtual ~Random() = default;

  // Uniform on the open interval (0, 1).
  virtual double uniform(Purpose purpose, std::uint64_t index) const = 0;
  // Four independent uniforms, for about the price of one.
  virtual std::array<double, 4> uniforms(Purpose purpose, std::uint64_t index) const = 0;
  // True with probability p; p outside [0, 1] counts as the nearer end.
  virtual bool bernoulli(Purpose purpose, std::uint64_t index, double p) const = 0;
  // Uniform on {0, ..., n - 1}, without bias; n > 0.
  virtual std::uint64_t choose(Purpose purpose, std::uint64_t index, std::uint64_t n) const = 0;
  // Failures before the first success of probability q, or `limit` if there are as many or more.
  virtual std::uint64_t skip(Purpose purpose, std::uint64_t index, double q, std::uint64_t limit) const = 0;
  // Independent standard normals.
  virtual void normals(Purpose purpose, std::uint64_t index, std::span<double> out) const = 0;
};

// Philox 4x64-10 (Salmon and others 2011), keyed by (seed, chain); the counter holds (draw within the address, index,
// iteration, slot and purpose). `slot` tells apart the kernels of one iteration.
class PhiloxRandom final : public Random {
 public:
  PhiloxRandom(std::uint64_t seed, std::uint64_t chain, std::uint64_t iteration, std::uint32_t slot = 0)
      : seed_(seed), chain_(chain), iteration_(iteration), slot_(slot) {}

  double uniform(Purpose purpose, std::uint64_t index) const override;
  std::array<double, 4> uniforms(Purpose purpose, std::uint64_t index) const override;
  bool bernoulli(Purpose purpose, std::uint64_t index, double p) const override;
  std::uint64_t choose(Purpose purpose, std::uint64_t index, std::uint64_t n) const override;
  std::uint64_t skip(Purpose purpose, std::uint64_t index, double q, std::uint64_t limit) const override;
  void normals(Purpose purpose, std::uint64_t index, std::span<double> out) const override;

 private:
  std::uint64_t seed_;
  std::uint64_t chain_;
  std::uint64_t iteration_;
  std::uint32_t slot_;
};

}  // namespace flymc
