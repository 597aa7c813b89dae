// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace farfield::grains {
namespace {

struct Span1 {
    double low = 0.0, high = 0.0;
};

/// The full range, or, when that needs more cells than `most`, the middle 98 % of the values.
Span1 span_of(std::vector<double>& values, double width, double most) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    Span1 span{*low, *high};
    if ((span.high - span.low) / width <= most) return span;
    const auto n = static_cast<std::ptrdiff_t>(values.size());
    const std::ptrdiff_t at_low = n / 100, at_high = n - 1 - n / 100;
    std::nth_element(values.begin(), values.begin() + at_low, values.end());
    span.low = values[static_cast<std::size_t>(at_low)];
    std::nth_element(values.begin(), values.begin() + at_high, values.end());
    span.high = values[static_cast<std::size_t>(at_high)];
    span.high = std::min(span.high, span.low + most * width);
    return span;
}

std::uint64_t spread(std::uint64_t x) {  // 32 bits to the even places of 64
    x &= 0xffffffffull;
    x = (x | x << 16) & 0x0000ffff0000ffffull;
    x = (x | x << 8) & 0x00ff00ff00ff00ffull;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
    x = (x | x << 2) & 0x3333333333333333ull;
    return (x | x << 1) & 0x5555555555555555ull;
}

}  // namespace

void CellGrid::place(const std::vector<Body>& bodies, double width) {
    const std::size_t n = bodies.size();
    const double most = 64.0 + 8.0 * std::sqrt(static_cast<double>(n));
    scratch_.resize(n);
    for (std::size_t i = 0; i < n; ++i) scratch_[i] = bodies[i].x;
    const Span1 x = span_of(scratch_, width, most);
    for (std::size_t i = 0; i < n; ++i) scratch_[i] = bodies[i].y;
    const Span1 y = span_of(scratch_, width, most);
    columns_ = static_cast<int>((x.high - x.low) / width) + 1;
    rows_ = static_cast<int>((y.high - y.low) / width) + 1;
    cell_.resize(n);
    first_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) + 1, 0);
    const auto index = [width](double value, double low, int count) {
        return static_cast<int>(std::clamp(std::floor((value - low) / width), 0.0, static_cast<double>(count - 1)));
    };
    for (std::size_t i = 0; i < n; ++i) {
        cell_[i] = index(bodies[i].y, y.low, rows_) * columns_ + index(bodies[i].x, x.low, columns_);
        ++first_[static_cast<std::size_t>(cell_[i]) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    members_.resize(n);
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < n; ++i)
        members_[static_cast<std::size_t>(next[static_cast<std::size_t>(cell_[i])]++)] = static_cast<std::int32_t>(i);
}

void CellGrid::find_pairs(const std::vector<Body>& bodies, const std::vector<double>& radii,
                          const std::vector<char>& held, double skin, std::vector<SlotPair>& pairs) {
    pairs.clear();
    if (bodies.empty()) return;
    place(bodies, 2.0 * *std::max_element(radii.begin(), radii.end()) + skin);
    const auto test = [&](std::int32_t i, std::int32_t j) {
        const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
        const double dx = bodies[b].x - bodies[a].x, dy = bodies[b].y - bodies[a].y;
        const double reach = radii[a] + radii[b] + skin;
        if (dx * dx + dy * dy < reach * reach && held[a] + held[b] < 2)
            pairs.push_back({std::min(i, j), std::max(i, j)});
    };
    const std::array<std::array<int, 2>, 4> half{{{1, 0}, {-1, 1}, {0, 1}, {1, 1}}};
    for (int row = 0; row < rows_; ++row) {
        for (int column = 0; column < columns_; ++column) {
            const auto cell = static_cast<std::size_t>(row * columns_ + column);
            for (std::int32_t p = first_[cell]; p < first_[cell + 1]; ++p) {
                const std::int32_t i = members_[static_cast<std::size_t>(p)];
                for (std::int32_t q = p + 1; q < first_[cell + 1]; ++q) test(i, members_[static_cast<std::size_t>(q)]);
                for (const auto& [across, up] : half) {
                    if (column + across < 0 || column + across >= columns_ || row + up >= rows_) continue;
                    const auto other = static_cast<std::size_t>((row + up) * columns_ + column + across);
                    for (std::int32_t q = first_[other]; q < first_[other + 1]; ++q)
                        test(i, members_[static_cast<std::size_t>(q)]);
                }
            }
        }
    }
}

std::vector<std::int32_t> CellGrid::morton_order(const std::vector<Body>& bodies, double width) {
    double low_x = 0.0, low_y = 0.0;
    for (const Body& body : bodies) {
        low_x = std::min(low_x, body.x);
        low_y = std::min(low_y, body.y);
    }
    std::vector<std::uint64_t> code(bodies.size());
    const auto cell = [width](double distance) {
        return static_cast<std::uint64_t>(std::clamp(distance / width, 0.0, 4294967295.0));
    };
    for (std::size_t i = 0; i < bodies.size(); ++i)
        code[i] = spread(cell(bodies[i].x - low_x)) | spread(cell(bodies[i].y - low_y)) << 1;
    std::vector<std::int32_t> order(bodies.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return code[static_cast<std::size_t>(a)] < code[static_cast<std::size_t>(b)];
    });
    return order;
}

}  // namespace farfield::grains
