// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/memory.hpp"

#include "farfield/base/error.hpp"
#include "farfield/contact/ipc/ipc.hpp"

namespace farfield::contact::ipc {

Memory::Memory(const Ipc& owner, ThreadPool* threads) : model(owner), pool(threads) {}

double Memory::energy(const Poses& at) { return model.energy(at, *this); }

void Memory::linearize(const Poses& at, ContactLinearization& out) { model.linearize(at, *this, out); }

void Memory::vjp(std::span<const Twists> directions, std::span<ContactGradient> out) {
    model.vjp(directions, *this, out);
}

std::vector<double> Memory::save() const { return {static_cast<double>(pairs.size())}; }

void Memory::restore(const std::vector<double>& values) {
    if (values.size() != 1 || values[0] != static_cast<double>(pairs.size())) {
        fail("contact memory: ", values.size(), " values do not describe ", pairs.size(), " pairs of the IPC model");
    }
    for (PairMemory& pair : pairs) pair = {};
    linearized = false;
}

}  // namespace farfield::contact::ipc
