// A logistic regression of two clouds of points, and an untuned chain that starts at a prior draw.
#include "toy.hpp"

#include <fmt/format.h>

#include "flymc/model/logistic.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc::paper {
namespace {

constexpr RowId row_count = 40;
constexpr int iterations = 100;

std::string vector_json(const Vector& v) {
  std::string out;
  for (const double value : v) out += fmt::format("{}{:.5g}", out.empty() ? "" : ", ", value);
  return "[" + out + "]";
}

}  // namespace

std::string toy_json(std::uint64_t seed) {
  StoreBuilder builder({"bias", "x1", "x2"});
  std::string points;
  for (RowId row = 0; row < row_count; ++row) {
    std::vector<double> x(2);
    PhiloxRandom(seed, 1, static_cast<std::uint64_t>(row)).normals(Purpose::simulate, 0, x);
    const int y = row % 2 == 0 ? 0 : 1;
    const double side = y == 1 ? 1.0 : -1.0;
    const std::vector<double> features = {1.0, x[0] + 1.0 * side, x[1] + 0.8 * side};
    builder.append(features, y);
    points += fmt::format("{}[{:.4f}, {:.4f}, {}]", row ? ", " : "", features[1], features[2], y);
  }
  const Store store = builder.finish();
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const Threads threads(1);
  FitOptions options;
  options.move = MoveKind::random_walk;
  options.q = 0.1;
  options.bound = BoundKind::untuned;
  options.start_from_prior = true;
  options.warmup = 0;
  options.draws = iterations;
  const Preparation preparation = prepare(store, model, options, {threads});
  const Sampler sampler(store, model, preparation, options);

  std::string states;
  const auto watch = [&](const ChainRun& run) {
    const Place place = run.checkpoint().place;
    std::string bright;
    for (const RowId row : place.bright) bright += fmt::format("{}{}", bright.empty() ? "" : ", ", row);
    states += fmt::format("{}\n  {{\"iteration\": {}, \"theta\": {}, \"bright\": [{}]}}", states.empty() ? "" : ",",
                          place.iteration, vector_json(place.theta), bright);
    return true;
  };
  MemorySink sink(1, model.coefficients(store));
  ChainRun(0, sampler.plan(), {.warmup = options.warmup, .draws = options.draws, .thin = 1, .seed = seed})
      .advance(sink, 0, watch);
  return fmt::format("{{\"points\": [{}],\n \"states\": [{}\n]}}\n", points, states);
}

}  // namespace flymc::paper
