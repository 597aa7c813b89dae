// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Parameters: everything a rollout can be differentiated by, besides its initial state and controls.
///
/// A vector with names: `kParameterFields` lists every field once, and sizes, flattening, arithmetic, names, files and bindings
/// follow from it. A gradient by Parameters has the same layout, so it is a Parameters value too.
#include <Eigen/Dense>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include "farfield/geometry/moments.hpp"

namespace farfield {

struct Parameters {
    Eigen::Matrix<double, Eigen::Dynamic, 10, Eigen::RowMajor> moments;    ///< order of MomentVector
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> attachment;  ///< position in the parent
    Eigen::VectorXd kp, kd;
    Eigen::VectorXd damping, armature, stiffness, joint_friction;
    Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
    Eigen::VectorXd friction;
    double contact_stiffness = 1.0;
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> hull_vertices;  ///< all hulls stacked, body frames
};

/// What one row of a field belongs to.
enum class RowOf { Scene, Body, Actuator, Dof, HullVertex };

inline constexpr std::array<const char*, 3> kAxisNames{"x", "y", "z"};
inline constexpr std::array<const char*, 10> kMomentNames{"mass", "hx",  "hy",  "hz",  "Sxx",
                                                          "Syy",  "Szz", "Sxy", "Sxz", "Syz"};

template <class Field>
struct ParameterField {
    const char* name;
    const char* unit;
    RowOf rows;
    std::span<const char* const> components;  ///< names of the entries of one row; empty: a row is one number
    const char* description;
    Field Parameters::*member;
};

inline constexpr std::span<const char* const> kOneNumber{};
/// Every field once; the order of the flat vector.
inline constexpr std::tuple kParameterFields{
    ParameterField{
        "moments", "kg, kg m, kg m^2", RowOf::Body, std::span<const char* const>(kMomentNames),
        "Mass moments per body, shape (num_bodies, 10): m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz [kg, kg m, "
        "kg m^2], h = sum m x, S = sum m x x^T in the body frame. They move together: see set_mass.",
        &Parameters::moments},
    ParameterField{"attachment", "m", RowOf::Body, std::span<const char* const>(kAxisNames),
                   "Position of each body in its parent, shape (num_bodies, 3) [m]; unused for free bodies.",
                   &Parameters::attachment},
    ParameterField{"kp", "N m/rad or N/m", RowOf::Actuator, kOneNumber,
                   "Position gains, shape (num_actuators,) [N m/rad or N/m].", &Parameters::kp},
    ParameterField{"kd", "N m s/rad or N s/m", RowOf::Actuator, kOneNumber,
                   "Velocity gains, shape (num_actuators,) [N m s/rad or N s/m].", &Parameters::kd},
    ParameterField{"damping", "N m s/rad or N s/m", RowOf::Dof, kOneNumber,
                   "Joint damping, shape (num_dofs,) [N m s/rad or N s/m].", &Parameters::damping},
    ParameterField{"armature", "kg m^2 or kg", RowOf::Dof, kOneNumber,
                   "Rotor inertia, shape (num_dofs,) [kg m^2 or kg].", &Parameters::armature},
    ParameterField{"stiffness", "N m/rad or N/m", RowOf::Dof, kOneNumber,
                   "Joint springs, shape (num_dofs,) [N m/rad or N/m].", &Parameters::stiffness},
    ParameterField{"joint_friction", "N m or N", RowOf::Dof, kOneNumber,
                   "Dry friction of hinges and slides, shape (num_dofs,) [N m or N].", &Parameters::joint_friction},
    ParameterField{"gravity", "m/s^2", RowOf::Scene, std::span<const char* const>(kAxisNames), "Shape (3,) [m/s^2].",
                   &Parameters::gravity},
    ParameterField{"friction", "1", RowOf::Body, kOneNumber,
                   "Coulomb coefficient per body, shape (num_bodies,); a pair uses the larger one of the built model.",
                   &Parameters::friction},
    ParameterField{"contact_stiffness", "1", RowOf::Scene, kOneNumber,
                   "Factor of the weights [J] of all contact pairs, see ContactModel.pair_weights.",
                   &Parameters::contact_stiffness},
    ParameterField{"hull_vertices", "m", RowOf::HullVertex, std::span<const char* const>(kAxisNames),
                   "Local vertices of convex hulls, stacked, shape (n, 3) [m].", &Parameters::hull_vertices},
};

/// Calls visit(field, value) for every field, in order; `P` is Parameters or const Parameters.
template <class P, class Visit>
void visit_fields(P& parameters, Visit&& visit) {
    std::apply([&](const auto&... field) { (visit(field, parameters.*field.member), ...); }, kParameterFields);
}

/// The numbers of a field row by row, without a copy.
inline Eigen::Map<Eigen::VectorXd> entries(double& value) { return {&value, 1}; }
inline Eigen::Map<const Eigen::VectorXd> entries(const double& value) { return {&value, 1}; }
template <class Array>
Eigen::Map<Eigen::VectorXd> entries(Eigen::PlainObjectBase<Array>& values) {
    static_assert(Array::IsVectorAtCompileTime || Array::IsRowMajor);
    return {values.data(), values.size()};
}
template <class Array>
Eigen::Map<const Eigen::VectorXd> entries(const Eigen::PlainObjectBase<Array>& values) {
    static_assert(Array::IsVectorAtCompileTime || Array::IsRowMajor);
    return {values.data(), values.size()};
}

/// Entries of all fields together.
[[nodiscard]] Eigen::Index num_entries(const Parameters& parameters);
/// All fields behind each other, row by row: shape (num_entries,).
[[nodiscard]] Eigen::VectorXd flatten(const Parameters& parameters);
/// The inverse of flatten; `sizes` gives the sizes of the fields. Throws unless `flat` has num_entries(sizes) numbers.
[[nodiscard]] Parameters unflatten(const Parameters& sizes, const Eigen::VectorXd& flat);

// A vector space. Both sides must be of one model: sizes are checked field by field.
void add_scaled(Parameters& sum, double factor, const Parameters& term);  ///< sum += factor * term
[[nodiscard]] Parameters operator+(Parameters a, const Parameters& b);
[[nodiscard]] Parameters operator-(Parameters a, const Parameters& b);
[[nodiscard]] Parameters operator*(double factor, Parameters p);
[[nodiscard]] double dot(const Parameters& a, const Parameters& b);

/// Scales all moments of a body, so that its mass is `mass` [kg] and its shape of inertia stays. Throws for a body without mass.
void set_mass(Parameters& parameters, int body, double mass);

}  // namespace farfield
