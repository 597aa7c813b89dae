// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/memory.hpp"

#include <cmath>
#include <iterator>

#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/long_range.hpp"

namespace farfield::contact::longrange {

namespace {

constexpr std::size_t kPerPlane = 6;    // key (two halves), normal, slack
constexpr double kHalf = 4294967296.0;  // 2^32

}  // namespace

Memory::Memory(const LongRange& owner, ThreadPool* threads) : model(owner), pool(threads) {}

double Memory::energy(const Poses& poses) { return model.energy(poses, *this); }

void Memory::linearize(const Poses& poses, ContactLinearization& out) { model.linearize(poses, *this, out); }

void Memory::vjp(std::span<const Twists> directions, std::span<ContactGradient> out) {
    model.vjp(directions, *this, out);
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
    linearized = false;
}

std::unique_ptr<PairScratch> Memory::borrow() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<PairScratch>();
    std::unique_ptr<PairScratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
}

void Memory::give_back(std::unique_ptr<PairScratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
}

}  // namespace farfield::contact::longrange
