// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/memory.hpp"

#include "farfield/base/error.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"

namespace farfield::contact::polyhedral {

namespace {

constexpr std::size_t kNumbersPerPlane = 11;

}  // namespace

void PairAdjoint::clear() {
    friction_phi = 0.0;
    previous_a.setZero();
    previous_b.setZero();
    vertices.clear();
    friction_vertices.clear();
}

Memory::Memory(const Polyhedral& owner, ThreadPool* threads) : model(owner), pool(threads) {}

double Memory::energy(const Poses& poses) { return model.energy(poses, *this); }

void Memory::linearize(const Poses& poses, ContactLinearization& out) { model.linearize(poses, *this, out); }

void Memory::vjp(std::span<const Twists> directions, std::span<ContactGradient> out) {
    model.vjp(directions, *this, out);
}

std::vector<double> Memory::save() const {
    std::vector<double> values;
    for (const PairMemory& pair : pairs) {
        values.push_back(static_cast<double>(pair.near.size()));
        for (const HullPair& near : pair.near) {
            const WarmPlane& w = near.warm;
            values.insert(values.end(), {static_cast<double>(near.a), static_cast<double>(near.b), w.plane.normal.x(),
                                         w.plane.normal.y(), w.plane.normal.z(), w.plane.offset, w.centre.x(),
                                         w.centre.y(), w.centre.z(), w.lowest_a, w.lowest_b});
        }
    }
    return values;
}

void Memory::restore(const std::vector<double>& values) {
    std::size_t k = 0;
    const auto next = [&] {
        if (k >= values.size()) fail("Polyhedral: memory of ", values.size(), " numbers, expected more");
        return values[k++];
    };
    for (PairMemory& pair : pairs) {
        pair.near.clear();
        pair.lagged.clear();
        const double count = next();
        if (!(count >= 0.0) || count * kNumbersPerPlane > static_cast<double>(values.size()))
            fail("Polyhedral: memory names ", count, " hull pairs, expected fewer");
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            HullPair near;
            near.a = static_cast<int>(next());
            near.b = static_cast<int>(next());
            for (int c = 0; c < 3; ++c) near.warm.plane.normal[c] = next();
            near.warm.plane.offset = next();
            for (int c = 0; c < 3; ++c) near.warm.centre[c] = next();
            near.warm.lowest_a = next();
            near.warm.lowest_b = next();
            pair.near.push_back(near);
        }
    }
    if (k != values.size()) fail("Polyhedral: memory of ", values.size(), " numbers, expected ", k);
    lagged.clear();
    linearized = false;
}

}  // namespace farfield::contact::polyhedral
