// SPDX-License-Identifier: Apache-2.0
/// @file  The library outlines. Drawn in a box of convenient size, then scaled to the wanted circumradius about the centroid.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "farfield/base/error.hpp"
#include "farfield/grains/shape.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;
constexpr double kPi = std::numbers::pi;

Ring circle(double radius, int corners, double phase) {
    Ring ring;
    for (int i = 0; i < corners; ++i) {
        const double angle = phase + 2.0 * kPi * i / corners;
        ring.emplace_back(radius * std::cos(angle), radius * std::sin(angle));
    }
    return ring;
}

Ring reversed(Ring ring) {
    std::reverse(ring.begin(), ring.end());
    return ring;
}

/// Annulus sector: `share` of a full turn, about the y axis, open upwards, wall `width` inside radius 1.
Polygon arc(double share, double width) {
    const int corners = std::max(4, static_cast<int>(std::lround(32.0 * share)));
    if (share >= 1.0) return {{circle(1.0, 32, 0.0), reversed(circle(1.0 - width, 32, 0.0))}};
    Ring ring;
    const double first = -0.5 * kPi - kPi * share, turn = 2.0 * kPi * share;
    for (int i = 0; i <= corners; ++i) {
        const double angle = first + turn * i / corners;
        ring.emplace_back(std::cos(angle), std::sin(angle));
    }
    for (int i = corners; i >= 0; --i) {
        const double angle = first + turn * i / corners;
        ring.emplace_back((1.0 - width) * std::cos(angle), (1.0 - width) * std::sin(angle));
    }
    return {{ring}};
}

/// Two upright and two level bars of width w, prong tips at +-1, bars centred at +-c; the middle is a hole.
Polygon hash_sign(double c, double w) {
    const double in = c - 0.5 * w, out = c + 0.5 * w;
    Ring ring;
    // One quarter of the outline, then turned three times.
    const std::array<Vector2d, 7> quarter{Vector2d(1.0, -out), {1.0, -in}, {out, -in}, {out, in},
                                          {1.0, in},           {1.0, out}, {out, out}};
    Eigen::Matrix2d turn = Eigen::Matrix2d::Identity(), quarter_turn;
    quarter_turn << 0.0, -1.0, 1.0, 0.0;
    for (int k = 0; k < 4; ++k, turn = quarter_turn * turn) {
        for (const Vector2d& p : quarter) ring.push_back(turn * p);
    }
    return {{ring, {{-in, -in}, {-in, in}, {in, in}, {in, -in}}}};
}

/// Width 1.4, height 1.6, round at the bottom.
Polygon letter_u(double w) {
    const double x = 0.7, low = -0.1, high = 0.8;
    const int corners = 12;
    Ring ring;
    for (int i = 0; i <= corners; ++i) {
        const double angle = -kPi + kPi * i / corners;
        ring.emplace_back(x * std::cos(angle), low + x * std::sin(angle));
    }
    ring.emplace_back(x, high);
    ring.emplace_back(x - w, high);
    for (int i = corners; i >= 0; --i) {
        const double angle = -kPi + kPi * i / corners;
        ring.emplace_back((x - w) * std::cos(angle), low + (x - w) * std::sin(angle));
    }
    ring.emplace_back(-x + w, high);
    ring.emplace_back(-x, high);
    return {{ring}};
}

Polygon letter_n(double w) {
    // Height 2, width 1.6; the diagonal has the same horizontal width as the bars at its ends.
    const double x = 0.8, h = 1.0, s = 0.9 * w;
    return {{{{-x, -h},
              {-x + w, -h},
              {-x + w, h - 2.0 * s},
              {x - w, -h},
              {x, -h},
              {x, h},
              {x - w, h},
              {x - w, -h + 2.0 * s},
              {-x + w, h},
              {-x, h}}}};
}

Polygon letter_d(double w) {
    const int corners = 10;
    Ring outer{{-0.5, -0.8}}, inner{{-0.5 + w, -0.8 + w}};
    for (int i = 0; i <= corners; ++i) {
        const double angle = -0.5 * kPi + kPi * i / corners;
        outer.emplace_back(-0.1 + 0.8 * std::cos(angle), 0.8 * std::sin(angle));
        inner.emplace_back(-0.1 + (0.8 - w) * std::cos(angle), (0.8 - w) * std::sin(angle));
    }
    outer.emplace_back(-0.5, 0.8);
    inner.emplace_back(-0.5 + w, 0.8 - w);
    return {{outer, reversed(inner)}};
}

Polygon heart() {
    Ring ring{{0.0, -1.0}};
    const double r = 0.5;
    const int corners = 8;
    for (int i = 0; i <= corners; ++i) {  // right lobe from its right end to the notch
        const double angle = -0.15 * kPi + 0.95 * kPi * i / corners;
        ring.emplace_back(0.45 + r * std::cos(angle), 0.3 + r * std::sin(angle));
    }
    for (int i = 0; i <= corners; ++i) {
        const double angle = 0.2 * kPi + 0.95 * kPi * i / corners;
        ring.emplace_back(-0.45 + r * std::cos(angle), 0.3 + r * std::sin(angle));
    }
    return {{ring}};
}

/// A bar of serif I: width w, flanges of the full width.
Polygon letter_i(double w) {
    const double x = 0.45, h = 0.9, f = w, b = 0.5 * w;
    return {{{{-x, -h},
              {x, -h},
              {x, -h + f},
              {b, -h + f},
              {b, h - f},
              {x, h - f},
              {x, h},
              {-x, h},
              {-x, h - f},
              {-b, h - f},
              {-b, -h + f},
              {-x, -h + f}}}};
}

Polygon star() {
    Ring ring;
    for (int i = 0; i < 10; ++i) {
        const double angle = 0.5 * kPi + 2.0 * kPi * i / 10, r = i % 2 == 0 ? 1.0 : 0.45;
        ring.emplace_back(r * std::cos(angle), r * std::sin(angle));
    }
    return {{ring}};
}

/// A rod with a ball at its right end and a socket that grips such a ball at its left end (ball and socket joint).
Polygon link() {
    const double ball = 0.16, clearance = 0.06, wall = 0.1, reach = 0.8, bar = 0.07;
    const double inner = ball + clearance, outer = inner + wall, mouth = 0.2 * kPi;  // half opening of the socket
    Ring ring;
    const double join = std::asin(bar / outer), neck = std::asin(bar / ball);
    // Ball, counter-clockwise from the lower to the upper neck.
    for (int i = 0; i <= 14; ++i) {
        const double angle = -kPi + neck + (2.0 * kPi - 2.0 * neck) * i / 14;
        ring.emplace_back(reach + ball * std::cos(angle), ball * std::sin(angle));
    }
    // Socket: outside from the upper join round to the mouth, inside back, outside to the lower join. It opens to the left.
    const auto around = [&](double radius, double from, double to, int corners) {
        for (int i = 0; i <= corners; ++i) {
            const double angle = from + (to - from) * i / corners;
            ring.emplace_back(-reach + radius * std::cos(angle), radius * std::sin(angle));
        }
    };
    around(outer, join, kPi - mouth, 8);
    around(inner, kPi - mouth, -kPi + mouth, 16);
    around(outer, -kPi + mouth, -join, 8);
    return {{ring}};
}

Polygon outline(const std::string& name) {
    if (name == "O") return {{circle(1.0, 24, 0.0), reversed(circle(0.65, 24, 0.0))}};
    if (name == "octagon") return {{circle(1.0, 8, kPi / 8.0)}};
    if (name == "#") return hash_sign(0.45, 0.25);
    if (name == "U") return letter_u(0.3);
    if (name == "L") return {{{{0.0, 0.0}, {1.2, 0.0}, {1.2, 0.5}, {0.5, 0.5}, {0.5, 1.2}, {0.0, 1.2}}}};
    if (name == "N") return letter_n(0.3);
    if (name == "D") return letter_d(0.3);
    if (name == "I") return letter_i(0.3);
    if (name == "heart") return heart();
    if (name == "star") return star();
    if (name == "link") return link();
    if (name == "block") return {{{{-1.0, -0.5}, {1.0, -0.5}, {1.0, 0.5}, {-1.0, 0.5}}}};
    if (name == "arc25") return arc(0.25, 0.2);
    if (name == "arc50") return arc(0.5, 0.2);
    if (name == "arc75") return arc(0.75, 0.2);
    if (name == "arc100") return arc(1.0, 0.2);
    return {};
}

}  // namespace

std::vector<std::string> library_names() {
    return {"O",    "U",       "N",     "D",     "#",     "I",      "L",    "heart",
            "star", "octagon", "arc25", "arc50", "arc75", "arc100", "link", "block"};
}

GrainShape library_shape(const std::string& name, double radius) {
    const Polygon polygon = outline(name);
    if (polygon.rings.empty()) {
        std::string known;
        for (const std::string& each : library_names()) known += (known.empty() ? "" : " ") + each;
        fail("shape '", name, "' is unknown, expected one of: ", known);
    }
    return scaled(make_shape(name, polygon), radius);
}

GrainShape block_shape(double width, double height) {
    if (!(width > 0.0 && height > 0.0)) fail("block: ", width, " x ", height, ", expected sides > 0 [m]");
    const double x = 0.5 * width, y = 0.5 * height;
    return make_shape("block", {{{{-x, -y}, {x, -y}, {x, y}, {-x, y}}}});
}

}  // namespace farfield::grains
