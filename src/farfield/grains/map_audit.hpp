// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How good a contact map is near contact, against the exact polygon distance. A map that fails is not used.
#include "farfield/base/random.hpp"
#include "farfield/grains/contact_map.hpp"

namespace farfield::grains {

struct MapAudit {
    double rmse = 0.0;           ///< of d for |d| < 0.02, in circumradii of the larger grain
    double normal_median = 0.0;  ///< angle between map and exact normal, among d < 0 [degrees]
    double normal_p90 = 0.0;     ///< [degrees]
    double wrap_jump = 0.0;      ///< largest jump of d where theta wraps from pi to -pi, in circumradii
    int samples = 0;
};

struct AuditBounds {
    double rmse = 0.005, normal_median = 2.0;
};

/// Random configurations on the exact contact boundary, shifted by up to 0.02 circumradii either way.
[[nodiscard]] MapAudit audit_map(const ContactMap& map, const GrainShape& a, const GrainShape& b, int samples,
                                 Random& random);

/// Throws when the audit exceeds the bounds, saying what to raise.
void require(const MapAudit& audit, const AuditBounds& bounds, const std::string& place);

}  // namespace farfield::grains
