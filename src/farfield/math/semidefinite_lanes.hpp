// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The nearest positive semi-definite matrices of symmetric 9 x 9 ones, several at a time.
///
/// Formula:   M = V diag(lambda) V^T  becomes  M - sum over lambda_k < 0 of lambda_k v_k v_k^T, the nearest in the Frobenius norm
/// Householder's reduction to a tridiagonal matrix, then implicit QL, a matrix per lane; one that has converged is held by its mask. So a
/// matrix has the same bits alone and among others. Whatever is not finite stays so.
#include <cstddef>

namespace farfield {

inline constexpr std::size_t kSemidefiniteSize = 9, kSemidefiniteLanes = 8;

/// Lower triangles, row >= column; the rest is not read.
struct SymmetricChunk {
    alignas(64) double entry[kSemidefiniteSize][kSemidefiniteSize][kSemidefiniteLanes];
};

/// The first `count` matrices; the others may change or not.
void make_semidefinite(SymmetricChunk& matrices, std::size_t count);

}  // namespace farfield
