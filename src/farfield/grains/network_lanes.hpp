// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A trained network in single precision, evaluated with a sample per SIMD lane.
#include <cstddef>
#include <vector>

#include "farfield/grains/network.hpp"

namespace farfield::grains {

inline constexpr std::size_t kNetworkBatch = 16;

/// Weights in the order in which lanes read them: blocks of four outputs, input by input. Inputs and outputs of every layer are
/// filled up with zeros to a multiple of four.
struct PackedNetwork {
    struct Layer {
        std::size_t inputs = 0, outputs = 0;         ///< multiples of four
        std::vector<float> weights, bias, backward;  ///< backward: the transposed weights, packed alike
    };
    std::vector<Layer> layers;
    Activation activation = Activation::Softplus;
    std::size_t widest = 0;

    explicit PackedNetwork(const Network& network);
};

/// Buffers of one evaluation; reuse them to avoid allocation.
struct NetworkScratch {
    std::vector<float> values, next;
    std::vector<float> slopes;  ///< layer by layer
};

/// Outputs of kNetworkBatch samples; input row k holds number k of every sample. There are layers[0].inputs rows.
void evaluate_network(const PackedNetwork& network, const float* input, NetworkScratch& scratch, float* output);

/// After evaluate_network: derivatives of the outputs by the input, laid out like the input.
void network_gradient(const PackedNetwork& network, NetworkScratch& scratch, float* gradient);

}  // namespace farfield::grains
