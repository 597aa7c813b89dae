// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/memory.hpp"

#include <cmath>
#include <iterator>

#include "farfield/base/error.hpp"

namespace farfield::contact::longrange {

namespace {

constexpr std::size_t kPerPlane = 6;    // key (two halves), normal, slack
constexpr double kHalf = 4294967296.0;  // 2^32

}  // namespace

bool PairMemory::lagged() const {
    if (mesh_friction.planes.size() > 0) return true;
    for (const LaggedHalfSpace& one : half_space_friction) {
        if (!one.points.empty()) return true;
    }
    return false;
}

void PairMemory::forget_start(std::size_t num_half_spaces) {
    half_space_friction.resize(num_half_spaces);
    start_half_work.resize(num_half_spaces);
    mesh_friction.planes.clear();
    start_work.clear();
    for (LaggedHalfSpace& one : half_space_friction) {
        one.points.clear();
        one.duals.clear();
    }
    for (HalfSpaceWork& work : start_half_work) work.clear();
}

std::vector<double> Memory::save() const {
    std::vector<double> values{static_cast<double>(pairs.size())};
    for (const PairMemory& pair : pairs) {
        const PlaneTable& table = pair.planes;
        values.push_back(static_cast<double>(table.keys.size()));
        for (std::size_t k = 0; k < table.keys.size(); ++k) {
            values.push_back(static_cast<double>(table.keys[k] >> 32));
            values.push_back(static_cast<double>(table.keys[k] & 0xffffffffu));
            values.insert(values.end(), std::begin(table.planes[k].v), std::end(table.planes[k].v));
        }
    }
    return values;
}

void Memory::restore(const std::vector<double>& values) {
    const auto foreign = [&] {
        fail("contact memory: ", values.size(), " values do not describe ", pairs.size(), " pairs");
    };
    if (values.empty() || values[0] != static_cast<double>(pairs.size())) foreign();
    std::vector<PlaneTable> tables(pairs.size());
    std::size_t at = 1;
    for (PlaneTable& table : tables) {
        if (at >= values.size()) foreign();
        const double count = values[at++];
        if (!(count >= 0.0) || count != std::floor(count) ||
            count * kPerPlane > static_cast<double>(values.size() - at))
            foreign();
        table.keys.resize(static_cast<std::size_t>(count));
        table.planes.resize(table.keys.size());
        for (std::size_t k = 0; k < table.keys.size(); ++k) {
            const double high = values[at], low = values[at + 1];
            if (!(high >= 0.0 && high < kHalf && low >= 0.0 && low < kHalf)) foreign();
            table.keys[k] = (static_cast<std::uint64_t>(high) << 32) | static_cast<std::uint64_t>(low);
            for (std::size_t c = 0; c < 4; ++c) table.planes[k].v[c] = values[at + 2 + c];
            at += kPerPlane;
        }
    }
    if (at != values.size()) foreign();
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        pairs[p] = {};
        pairs[p].planes = std::move(tables[p]);
    }
    forget_step();
}

Memory::Scratch Memory::borrow() {
    const auto give_back = [this](PairScratch* scratch) {
        const std::lock_guard lock(mutex_);
        free_.emplace_back(scratch);
    };
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {new PairScratch, give_back};
    Scratch scratch(free_.back().release(), give_back);
    free_.pop_back();
    return scratch;
}

}  // namespace farfield::contact::longrange
