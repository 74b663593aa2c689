// Slice sampling (Neal 2003) along coordinates or along random directions, with stepping out and shrinkage.
#pragma once

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Updates each coordinate in turn: one step is D univariate slice updates with a width for each coordinate.
class SliceCoordinates final : public Kernel {
 public:
  SliceCoordinates(const Density& density, Vector widths);
  Info step(State& state, const Random& random) const override;
  // The same; `moved` receives the distance that each coordinate moved.
  Info step(State& state, const Random& random, Vector& moved) const;

 private:
  const Density* density_;
  Vector widths_;
};

// One update along L^-T u, with u uniform on the unit sphere.
class SliceDirection final : public Kernel {
 public:
  SliceDirection(const Density& density, std::shared_ptr<const Precision> metric, double width);
  Info step(State& state, const Random& random) const override;

 private:
  const Density* density_;
  std::shared_ptr<const Precision> metric_;
  double width_;
};

// One update of one of these coordinates, chosen at random, on the scale of a = asinh((theta - location) / scale). It
// is used for coordinates with a long tail, in addition to a move whose steps have the scale of the posterior's middle.
// The tail of a Student-t is exponential in a, so slices of one width reach all of it.
class SliceSome final : public Kernel {
 public:
  struct Coordinate {
    Index entry;
    double location, scale;
    double width;  // in units of a
  };
  SliceSome(const Density& density, std::vector<Coordinate> coordinates);
  Info step(State& state, const Random& random) const override;

 private:
  const Density* density_;
  std::vector<Coordinate> coordinates_;
};

// Warm-up sets each width to the mean length of the slices: three times the mean distance between two points of one.
class SliceCoordinatesTuner final : public Tuner {
 public:
  SliceCoordinatesTuner(const Density& density, Vector first_widths);
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  Vector widths() const;
  const Density* density_;
  Vector first_widths_;
  std::vector<LateMean> moved_;
};

class SliceDirectionTuner final : public Tuner {
 public:
  SliceDirectionTuner(const Density& density, std::shared_ptr<const Precision> metric, double first_width)
      : density_(&density), metric_(std::move(metric)), first_width_(first_width) {}
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  double width() const;
  const Density* density_;
  std::shared_ptr<const Precision> metric_;
  double first_width_;
  LateMean moved_;
};

}  // namespace flymc
