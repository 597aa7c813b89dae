// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/network_lanes.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SCALAR)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/grains/network_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::grains::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 8>;
using V = hn::Vec<Tag>;
constexpr auto kBeta = static_cast<float>(kSoftplusBeta);

/// Two vectors of samples times four rows of weights at a time: out = packed weights * x, plus the bias if there is one.
void multiply(const float* packed, const float* bias, size_t inputs, size_t outputs, const float* x, float* out) {
    const Tag d;
    const size_t step = 2 * hn::Lanes(d);
    for (size_t row = 0; row < outputs; row += 4, packed += 4 * inputs) {
        for (size_t at = 0; at < kNetworkBatch; at += step) {
            V sum[4][2];
            for (size_t r = 0; r < 4; ++r)
                sum[r][0] = sum[r][1] = bias != nullptr ? hn::Set(d, bias[row + r]) : hn::Zero(d);
            for (size_t k = 0; k < inputs; ++k) {
                const float* from = x + k * kNetworkBatch + at;
                const V low = hn::LoadU(d, from), high = hn::LoadU(d, from + hn::Lanes(d));
                for (size_t r = 0; r < 4; ++r) {
                    const V weight = hn::Set(d, packed[4 * k + r]);
                    sum[r][0] = hn::MulAdd(weight, low, sum[r][0]);
                    sum[r][1] = hn::MulAdd(weight, high, sum[r][1]);
                }
            }
            for (size_t r = 0; r < 4; ++r) {
                float* to = out + (row + r) * kNetworkBatch + at;
                hn::StoreU(sum[r][0], d, to);
                hn::StoreU(sum[r][1], d, to + hn::Lanes(d));
            }
        }
    }
}

void activate(Activation activation, size_t count, float* values, float* slopes) {
    const Tag d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    for (size_t k = 0; k < count; k += hn::Lanes(d)) {
        const V x = hn::LoadU(d, values + k), positive = hn::Max(x, zero);
        if (activation == Activation::Relu) {
            hn::StoreU(hn::IfThenElseZero(hn::Gt(x, zero), one), d, slopes + k);
            hn::StoreU(positive, d, values + k);
            continue;
        }
        const V e = hn::Exp(d, hn::Mul(hn::Set(d, -kBeta), hn::Abs(x)));  // in (0, 1]: nothing overflows
        const V share = hn::Div(one, hn::Add(one, e));
        hn::StoreU(hn::IfThenElse(hn::Ge(x, zero), share, hn::Sub(one, share)), d, slopes + k);
        hn::StoreU(hn::MulAdd(hn::Log1p(d, e), hn::Set(d, 1.0f / kBeta), positive), d, values + k);
    }
}

void evaluate_in_lanes(const PackedNetwork& network, const float* input, NetworkScratch& s, float* output) {
    const size_t layer_size = network.widest * kNetworkBatch;
    s.values.resize(layer_size);
    s.next.resize(layer_size);
    s.slopes.resize(layer_size * network.layers.size());
    const float* x = input;
    for (size_t k = 0; k < network.layers.size(); ++k) {
        const PackedNetwork::Layer& layer = network.layers[k];
        multiply(layer.weights.data(), layer.bias.data(), layer.inputs, layer.outputs, x, s.next.data());
        if (k + 1 < network.layers.size())
            activate(network.activation, layer.outputs * kNetworkBatch, s.next.data(),
                     s.slopes.data() + k * layer_size);
        s.values.swap(s.next);
        x = s.values.data();
    }
    std::copy_n(x, kNetworkBatch, output);
}

void gradient_in_lanes(const PackedNetwork& network, NetworkScratch& s, float* gradient) {
    const Tag d;
    const size_t layer_size = network.widest * kNetworkBatch;
    const PackedNetwork::Layer& last = network.layers.back();
    for (size_t k = 0; k < last.inputs; ++k)
        std::fill_n(s.values.data() + k * kNetworkBatch, kNetworkBatch, last.weights[4 * k]);
    for (size_t k = network.layers.size() - 1; k-- > 0;) {
        const PackedNetwork::Layer& layer = network.layers[k];
        const float* slopes = s.slopes.data() + k * layer_size;
        for (size_t i = 0; i < layer.outputs * kNetworkBatch; i += hn::Lanes(d)) {
            hn::StoreU(hn::Mul(hn::LoadU(d, s.values.data() + i), hn::LoadU(d, slopes + i)), d, s.values.data() + i);
        }
        multiply(layer.backward.data(), nullptr, layer.outputs, layer.inputs, s.values.data(), s.next.data());
        s.values.swap(s.next);
    }
    std::copy_n(s.values.data(), network.layers.front().inputs * kNetworkBatch, gradient);
}

}  // namespace farfield::grains::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::grains {
namespace {

constexpr std::size_t padded(std::size_t count) { return (count + 3) / 4 * 4; }

/// Blocks of four rows, column by column; rows and columns beyond the matrix are zero.
std::vector<float> pack(const Eigen::MatrixXd& matrix, std::size_t columns) {
    const std::size_t rows = padded(static_cast<std::size_t>(matrix.rows()));
    std::vector<float> out(rows * columns, 0.0f);
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
        for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
            const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
            out[(row / 4 * columns + column) * 4 + row % 4] = static_cast<float>(matrix(r, c));
        }
    }
    return out;
}

}  // namespace

PackedNetwork::PackedNetwork(const Network& network) : activation(network.activation()) {
    for (int k = 0; k <= network.layers(); ++k) {
        const Eigen::Index from = network.size(k), to = network.size(k + 1);
        const double* first = network.parameters().data() + network.offset(k);
        const Eigen::MatrixXd weights =
            Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(first, to, from);
        Layer layer;
        layer.inputs = padded(static_cast<std::size_t>(from));
        layer.outputs = padded(static_cast<std::size_t>(to));
        layer.weights = pack(weights, layer.inputs);
        layer.backward = pack(weights.transpose(), layer.outputs);
        layer.bias.assign(layer.outputs, 0.0f);
        for (Eigen::Index r = 0; r < to; ++r)
            layer.bias[static_cast<std::size_t>(r)] = static_cast<float>(first[to * from + r]);
        widest = std::max({widest, layer.inputs, layer.outputs});
        layers.push_back(std::move(layer));
    }
}

HWY_EXPORT(evaluate_in_lanes);
HWY_EXPORT(gradient_in_lanes);

void evaluate_network(const PackedNetwork& network, const float* input, NetworkScratch& scratch, float* output) {
    HWY_DYNAMIC_DISPATCH(evaluate_in_lanes)(network, input, scratch, output);
}

void network_gradient(const PackedNetwork& network, NetworkScratch& scratch, float* gradient) {
    HWY_DYNAMIC_DISPATCH(gradient_in_lanes)(network, scratch, gradient);
}

}  // namespace farfield::grains
#endif  // HWY_ONCE
