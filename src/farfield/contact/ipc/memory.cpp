// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/memory.hpp"

#include "farfield/base/error.hpp"

namespace farfield::contact::ipc {

std::vector<double> Memory::save() const { return {static_cast<double>(pairs.size())}; }

void Memory::restore(const std::vector<double>& values) {
    if (values.size() != 1 || values[0] != static_cast<double>(pairs.size())) {
        fail("contact memory: ", values.size(), " values do not describe ", pairs.size(), " pairs of the IPC model");
    }
    for (PairMemory& pair : pairs) pair = {};
    previous.clear();
}

}  // namespace farfield::contact::ipc
