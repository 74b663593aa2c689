// Products of panels: the plain loop's bits, at every width of vectors that this processor has.
#include "flymc/core/panel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace flymc {
namespace {

std::vector<double> some_numbers(Index count, double seed) {
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::sin(seed + 1.7 * static_cast<double>(i)) / (1.0 + seed);
  return out;
}

std::vector<VectorWidth> widths() {
  std::vector<VectorWidth> out;
  for (const VectorWidth width : {VectorWidth::two, VectorWidth::four, VectorWidth::eight})
    if (width <= widest_vectors()) out.push_back(width);
  return out;
}

TEST(Panel, ProductIsThePlainLoopBitForBit) {
  const Index stride = 60, out_stride = 11;
  for (const Index count : {1, 3, 8, 51})
    for (const Index columns : {1, 2, 3, 5, 7, 8, 9, 19}) {
      const auto panel = some_numbers(count * panel_width, 0.1);
      const auto x = some_numbers(columns * stride, 0.2);
      std::vector<double> expected(static_cast<std::size_t>(columns * out_stride), -1.0);
      for (Index c = 0; c < columns; ++c)
        for (Index i = 0; i < panel_width; ++i) {
          double sum = 0.0;
          for (Index l = 0; l < count; ++l)
            sum += panel[static_cast<std::size_t>(l * panel_width + i)] * x[static_cast<std::size_t>(c * stride + l)];
          expected[static_cast<std::size_t>(c * out_stride + i)] = sum;
        }
      for (const VectorWidth width : widths()) {
        std::vector<double> out(expected.size(), -1.0);
        panel_product(width, panel.data(), count, x.data(), stride, columns, out.data(), out_stride);
        EXPECT_EQ(out, expected) << count << " by " << columns << ", width " << static_cast<int>(width);
      }
    }
}

TEST(Panel, GramIsThePlainLoopBitForBit) {
  const Index count = 40;
  const auto left = some_numbers(count * panel_width, 0.3);
  const auto right = some_numbers(count * panel_width, 0.4);
  const auto before = some_numbers(panel_width * panel_width, 0.5);
  std::vector<WeightedRow> rows;
  for (Index l = 0; l < count; l += 1 + l % 3) rows.push_back({l, std::cos(static_cast<double>(l))});
  for (Index columns = 1; columns <= panel_width; ++columns) {
    std::vector<double> expected = before;
    for (Index c = 0; c < columns; ++c)
      for (Index i = 0; i < panel_width; ++i) {
        double sum = 0.0;
        for (const WeightedRow& at : rows)
          sum += left[static_cast<std::size_t>(at.row * panel_width + i)] * at.weight *
                 right[static_cast<std::size_t>(at.row * panel_width + c)];
        expected[static_cast<std::size_t>(c * panel_width + i)] += sum;
      }
    for (const VectorWidth width : widths()) {
      std::vector<double> out = before;
      add_panel_gram(width, left.data(), right.data(), columns, rows, out.data());
      EXPECT_EQ(out, expected) << columns << " columns, width " << static_cast<int>(width);
    }
  }
}

}  // namespace
}  // namespace flymc
