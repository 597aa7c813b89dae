// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/contact_json.hpp"

#include <cmath>
#include <set>

#include "farfield/base/error.hpp"
#include "farfield/io/strict_json.hpp"

namespace farfield {
namespace {

using nlohmann::json;

constexpr int kMaxContactDepth = 4;  // clouds are a list of objects with arrays

// The options of each model, named once for both directions. Structured bindings name every member, so a member added to a struct and
// forgotten here does not compile.

template <class Options, class Visit>
requires std::is_same_v<std::remove_const_t<Options>, contact::longrange::LongRangeOptions>
void visit_options(Options& options, Visit&& visit) {
    auto& [stiffness, weight_in_joules, leaf_weights, blend, zero_offset, length_scale, slip_speed, near_range,
           energy_tolerance, derivative_tolerance, friction, round_shapes, brute_force] = options;
    visit("stiffness", stiffness);
    visit("weight_in_joules", weight_in_joules);
    visit("leaf_weights", leaf_weights);
    visit("blend", blend);
    visit("zero_offset", zero_offset);
    visit("length_scale", length_scale);
    visit("slip_speed", slip_speed);
    visit("near_range", near_range);
    visit("energy_tolerance", energy_tolerance);
    visit("derivative_tolerance", derivative_tolerance);
    visit("friction_form", friction);
    visit("round_shapes", round_shapes);
    visit("brute_force", brute_force);
}

template <class Options, class Visit>
requires std::is_same_v<std::remove_const_t<Options>, contact::polyhedral::PolyhedralOptions>
void visit_options(Options& options, Visit&& visit) {
    auto& [stiffness, weight_in_joules, range, margin, slip_speed, friction] = options;
    visit("stiffness", stiffness);
    visit("weight_in_joules", weight_in_joules);
    visit("range", range);
    visit("margin", margin);
    visit("slip_speed", slip_speed);
    visit("friction_form", friction);
}

template <class Options, class Visit>
requires std::is_same_v<std::remove_const_t<Options>, contact::ipc::IpcOptions>
void visit_options(Options& options, Visit&& visit) {
    auto& [form, stiffness, weight_in_joules, range, length_scale, slip_speed] =
        options;  // form: by the name of the model
    visit("stiffness", stiffness);
    visit("weight_in_joules", weight_in_joules);
    if (form == contact::ipc::Form::Clamped) {
        visit("range", range);
    } else {
        visit("length_scale", length_scale);
    }
    visit("slip_speed", slip_speed);
}

template <class Options, class Visit>
requires std::is_same_v<std::remove_const_t<Options>, contact::softmin::SoftminOptions>
void visit_options(Options& options, Visit&& visit) {
    auto& [stiffness, newtons_per_metre, separation_temperature, force_temperature, damping_speed, slip_speed,
           normal_smoothing, forces, damping, spacing, cloud_temperature, tolerance, exact_boxes, clouds] = options;
    visit("stiffness", stiffness);
    visit("newtons_per_metre", newtons_per_metre);
    visit("separation_temperature", separation_temperature);
    visit("force_temperature", force_temperature);
    visit("damping_speed", damping_speed);
    visit("slip_speed", slip_speed);
    visit("normal_smoothing", normal_smoothing);
    visit("forces", forces);
    visit("damping", damping);
    visit("spacing", spacing);
    visit("cloud_temperature", cloud_temperature);
    visit("tolerance", tolerance);
    visit("exact_boxes", exact_boxes);
    visit("clouds", clouds);
}

template <class Visit>
void visit_cloud(auto& given, Visit&& visit) {
    auto& [body, cloud, support] = given;
    auto& [points, normals, spacing, temperature] = cloud;
    visit("body", body);
    visit("points", points);
    visit("normals", normals);
    visit("spacing", spacing);
    visit("temperature", temperature);
    visit("support", support);
}

json to_json(contact::softmin::ForceForm form) { return contact::softmin::name_of(form); }
json to_json(contact::softmin::DampingForm form) { return contact::softmin::name_of(form); }
json to_json(const std::string& text) { return text; }
json to_json(const PointRows& rows) { return std::vector<double>(rows.data(), rows.data() + rows.size()); }

/// What is not as in the paper.
template <class Enum>
constexpr std::pair<const char*, Enum> kOwnForm{"projected", Enum::Projected};
template <>
constexpr std::pair<const char*, contact::longrange::LeafWeights> kOwnForm<contact::longrange::LeafWeights>{
    "parallel", contact::longrange::LeafWeights::Parallel};

template <class Enum>
json to_json(const Enum& form) requires std::is_enum_v<Enum> {
    return form == Enum::Paper ? "paper" : kOwnForm<Enum>.first;
}
json to_json(bool value) { return value; }
json to_json(double value) { return value; }
json to_json(const std::vector<contact::softmin::BodyCloud>& clouds) {
    json out = json::array();
    for (const contact::softmin::BodyCloud& given : clouds) {
        json& entry = out.emplace_back(json::object());
        visit_cloud(given, [&](const char* name, const auto& value) { entry[name] = to_json(value); });
    }
    return out;
}
json to_json(const std::optional<double>& value) { return value ? json(*value) : json(); }
json to_json(const std::vector<double>& values) { return values; }

/// Sets a value from its JSON form; false when it is something else.
bool read(const json& from, bool& to) {
    if (from.is_boolean()) to = from.get<bool>();
    return from.is_boolean();
}
bool read(const json& from, double& to) {
    if (from.is_number()) to = from.get<double>();
    return from.is_number();
}
bool read(const json& from, std::optional<double>& to) {
    if (from.is_null()) {
        to.reset();
        return true;
    }
    return read(from, to.emplace());
}
bool read(const json& from, std::vector<double>& to) {
    if (!from.is_array()) return false;
    to.clear();
    for (const json& value : from) {
        if (!read(value, to.emplace_back())) return false;
    }
    return true;
}
bool read(const json& from, std::string& to) {
    if (from.is_string()) to = from.get<std::string>();
    return from.is_string();
}
bool read(const json& from, PointRows& to) {
    std::vector<double> numbers;
    if (!read(from, numbers) || numbers.size() % 3 != 0) return false;
    to = Eigen::Map<const PointRows>(numbers.data(), static_cast<Eigen::Index>(numbers.size() / 3), 3);
    return true;
}
bool read(const json& from, std::vector<contact::softmin::BodyCloud>& to) {
    if (!from.is_array()) return false;
    to.clear();
    for (const json& entry : from) {
        bool good = entry.is_object() && entry.size() == 6;
        visit_cloud(to.emplace_back(), [&](const char* name, auto& value) {
            good = good && entry.contains(name) && read(entry[name], value);
        });
        if (!good) return false;
    }
    return true;
}
bool read(const json& from, contact::softmin::ForceForm& to) {
    return from.is_string() && contact::softmin::from_name(from.get<std::string>(), to);
}
bool read(const json& from, contact::softmin::DampingForm& to) {
    return from.is_string() && contact::softmin::from_name(from.get<std::string>(), to);
}
template <class Enum>
bool read(const json& from, Enum& to) requires std::is_enum_v<Enum> {
    to = from == "paper" ? Enum::Paper : kOwnForm<Enum>.second;
    return from == "paper" || from == kOwnForm<Enum>.first;
}

/// Sets an option to what files written before it existed mean by its absence; false: they all have it.
template <class Value>
bool was_absent(std::string_view name, Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
        if (name == "round_shapes") {
            value = false;
            return true;
        }
    }
    return false;
}

}  // namespace

std::string contact_to_json(const contact::ContactOptions& options) {
    json out{{"model", contact::name_of(options)}};
    std::visit(
        [&](const auto& model) {
            visit_options(model, [&](const char* name, const auto& value) { out[name] = to_json(value); });
        },
        options);
    return dump_strict(out, "contact_to_json");
}

std::optional<contact::ContactOptions> contact_from_json(std::string_view text, const std::string& place) {
    const json from = parse_strict(text, place, kMaxContactDepth);
    if (from.is_object() && from.size() == 1 && from.contains("engine")) return std::nullopt;
    if (!from.is_object() || !from.contains("model") || !from["model"].is_string())
        fail_file(place, ": contact model without a name, expected an object with 'model'");
    contact::ContactOptions options;
    try {
        options = contact::default_options(from["model"].get<std::string>());
    } catch (const std::invalid_argument& error) {
        fail_file(place, ": ", error.what());
    }
    std::set<std::string> known{"model"};
    std::visit(
        [&](auto& model) {
            visit_options(model, [&](const char* name, auto& value) {
                known.insert(name);
                if (!from.contains(name) && was_absent(name, value)) return;
                if (!from.contains(name)) fail_file(place, ": contact model without '", name, "', expected one");
                if (!read(from[name], value)) fail_file(place, ": contact option '", name, "' is not of its kind");
            });
        },
        options);
    for (const auto& [key, value] : from.items()) {
        if (!known.contains(key)) fail_file(place, ": unknown contact option '", key, "'");
    }
    return options;
}

}  // namespace farfield
