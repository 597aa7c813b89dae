// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/scene_json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "farfield/base/error.hpp"
#include "farfield/io/strict_json.hpp"

namespace farfield {
namespace {

using nlohmann::json;

constexpr int kMaxSceneDepth = 6;  // scene, bodies, body, joints, joint, anchor

/// Words of the enumerators, in their order.
template <class Enum>
struct Words;
template <>
struct Words<JointType> {
    static constexpr std::array<const char*, 6> all{"fixed", "free", "ball", "universal", "hinge", "slide"};
};
template <>
struct Words<BodyMotion> {
    static constexpr std::array<const char*, 3> all{"dynamic", "fixed", "kinematic"};
};
template <>
struct Words<ShapeType> {
    static constexpr std::array<const char*, 7> all{"box",       "sphere", "capsule",   "cylinder",
                                                    "ellipsoid", "mesh",   "half_space"};
};
template <>
struct Words<ContactPolicy> {
    static constexpr std::array<const char*, 3> all{"all", "near", "none"};
};
template <>
struct Words<ActuatorType> {
    static constexpr std::array<const char*, 3> all{"motor", "pd", "affine"};
};
template <>
struct Words<ConstraintType> {
    static constexpr std::array<const char*, 3> all{"connect", "weld", "coupling"};
};

// The fields of each struct, named once for both directions. Structured bindings name every member, so a member added to
// a struct and forgotten here does not compile.

template <class Archive, class T>
using As = typename Archive::template As<T>;

template <class Archive>
void fields(Archive& archive, As<Archive, Range>& range) {
    auto& [lower, upper] = range;
    archive("lower", lower);
    archive("upper", upper);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Moments>& moments) {
    auto& [mass, first, second] = moments;
    archive("mass", mass);
    archive("first", first);
    archive("second", second);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Joint>& joint) {
    auto& [name, type, anchor, axis, axis2, reference, range, range2, limit_stiffness, damping, armature, stiffness,
           spring_reference, friction, friction_speed] = joint;
    archive("name", name);
    archive("type", type);
    archive("anchor", anchor);
    archive("axis", axis);
    archive("axis2", axis2);
    archive("reference", reference);
    archive("range", range);
    archive("range2", range2);
    archive("limit_stiffness", limit_stiffness);
    archive("damping", damping);
    archive("armature", armature);
    archive("stiffness", stiffness);
    archive("spring_reference", spring_reference);
    archive("friction", friction);
    archive("friction_speed", friction_speed);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Body>& body) {
    auto& [name, parent, position, orientation, motion, joints, moments, gravity_compensation] = body;
    archive("name", name);
    archive("parent", parent);
    archive("position", position);
    archive("orientation", orientation);
    archive("motion", motion);
    archive("joints", joints);
    archive("moments", moments);
    archive("gravity_compensation", gravity_compensation);
}

template <class Archive>
void fields(Archive& archive, As<Archive, TriangleMesh>& mesh) {
    auto& [name, vertices, triangles, radii] = mesh;
    (void)vertices;  // kept apart, as arrays
    (void)triangles;
    (void)radii;  // no mesh of a scene has any
    archive("name", name);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Shape>& shape) {
    auto& [name, body, type, size, position, orientation, mesh, density, friction, resolution, collides, keep_vertices,
           group, collides_with, color] = shape;
    archive("name", name);
    archive("body", body);
    archive("type", type);
    archive("size", size);
    archive("position", position);
    archive("orientation", orientation);
    archive("mesh", mesh);
    archive("density", density);
    archive("friction", friction);
    archive("resolution", resolution);
    archive("collides", collides);
    archive.if_set("keep_vertices", keep_vertices);
    archive("group", group);
    archive("collides_with", collides_with);
    archive("color", color);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Actuator>& actuator) {
    auto& [name, type, joint, kp, kd, gear, position_input, velocity_input, control_range, tendon, body, position,
           orientation, gain, bias, force_range] = actuator;
    archive("name", name);
    archive("type", type);
    archive("joint", joint);
    archive("kp", kp);
    archive("kd", kd);
    archive("gear", gear);
    archive("position_input", position_input);
    archive("velocity_input", velocity_input);
    archive("control_range", control_range);
    archive("tendon", tendon);
    archive("body", body);
    archive("position", position);
    archive("orientation", orientation);
    archive("gain", gain);
    archive("bias", bias);
    archive("force_range", force_range);
}

template <class Archive>
void fields(Archive& archive, As<Archive, LengthTerm>& term) {
    auto& [joint, coefficient] = term;
    archive("joint", joint);
    archive("coefficient", coefficient);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Tendon>& tendon) {
    auto& [name, terms, range, limit_stiffness, stiffness, rest, damping, armature, friction, friction_speed] = tendon;
    archive("name", name);
    archive("terms", terms);
    archive("range", range);
    archive("limit_stiffness", limit_stiffness);
    archive("stiffness", stiffness);
    archive("rest", rest);
    archive("damping", damping);
    archive("armature", armature);
    archive("friction", friction);
    archive("friction_speed", friction_speed);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Constraint>& constraint) {
    auto& [name, type, body, other, anchor, other_anchor, orientation, terms, source, reference, source_reference,
           polynomial] = constraint;
    archive("name", name);
    archive("type", type);
    archive("body", body);
    archive("other", other);
    archive("anchor", anchor);
    archive("other_anchor", other_anchor);
    archive("orientation", orientation);
    archive("terms", terms);
    archive("source", source);
    archive("reference", reference);
    archive("source_reference", source_reference);
    archive("polynomial", polynomial);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Tie>& tie) {
    auto& [joint, source, ratio, offset] = tie;
    archive("joint", joint);
    archive("source", source);
    archive("ratio", ratio);
    archive("offset", offset);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Keyframe>& keyframe) {
    auto& [name, q, v, control] = keyframe;
    archive("name", name);
    archive("q", q);
    archive("v", v);
    archive("control", control);
}

using NamePair = std::pair<std::string, std::string>;

template <class Archive>
void fields(Archive& archive, As<Archive, NamePair>& pair) {
    archive("a", pair.first);
    archive("b", pair.second);
}

template <class Archive>
void fields(Archive& archive, As<Archive, PairFriction>& pair) {
    archive("a", pair.a);
    archive("b", pair.b);
    archive("friction", pair.friction);
}

template <class Archive>
void fields(Archive& archive, As<Archive, PairContact>& pair) {
    archive("a", pair.a);
    archive("b", pair.b);
    archive("policy", pair.policy);
}

template <class Archive>
void fields(Archive& archive, As<Archive, Scene>& scene) {
    auto& [name, gravity, dt, bodies, meshes, shapes, tendons, actuators, ties, constraints, exclude_contacts,
           include_contacts, pair_friction, self_contact, pair_contact, keyframes, warnings] = scene;
    archive("name", name);
    archive("gravity", gravity);
    archive.if_given("dt", dt);
    archive("bodies", bodies);
    archive("meshes", meshes);
    archive("shapes", shapes);
    archive("tendons", tendons);
    archive("actuators", actuators);
    archive("ties", ties);
    archive("constraints", constraints);
    archive("exclude_contacts", exclude_contacts);
    archive("include_contacts", include_contacts);
    archive("pair_friction", pair_friction);
    archive("self_contact", self_contact);
    archive("pair_contact", pair_contact);
    archive("keyframes", keyframes);
    archive("warnings", warnings);
}

/// C++ -> JSON.
class Writer {
 public:
    template <class T>
    using As = const T;

    template <class T>
    void operator()(const char* key, const T& value) {
        object_[key] = encode(value);
    }
    template <class T>
    void if_given(const char* key, const std::optional<T>& value) {
        if (value) (*this)(key, *value);
    }
    void if_set(const char* key, bool value) {
        if (value) (*this)(key, value);
    }

    template <class T>
    [[nodiscard]] static json encode(const T& value) {
        if constexpr (std::is_same_v<T, double>) {
            if (std::isnan(value)) return "nan";
            if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
            return value;
        } else if constexpr (std::is_enum_v<T>) {
            return Words<T>::all.at(static_cast<std::size_t>(value));
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
            return value;
        } else if constexpr (std::is_same_v<T, Eigen::Quaterniond>) {
            return encode(Eigen::Vector4d(value.w(), value.x(), value.y(), value.z()));
        } else if constexpr (std::is_base_of_v<Eigen::MatrixBase<T>, T>) {
            json list = json::array();
            for (Eigen::Index r = 0; r < value.rows(); ++r) {
                for (Eigen::Index c = 0; c < value.cols(); ++c) list.push_back(encode(double(value(r, c))));
            }
            return list;
        } else {
            Writer writer;
            fields(writer, value);
            return std::move(writer.object_);
        }
    }

    template <class T>
    [[nodiscard]] static json encode(const std::optional<T>& value) {
        return value ? encode(*value) : json();
    }

    template <class T>
    [[nodiscard]] static json encode(const std::vector<T>& values) {
        json list = json::array();
        for (const T& value : values) list.push_back(encode(value));
        return list;
    }

 private:
    json object_ = json::object();
};

/// JSON -> C++.
class Reader {
 public:
    template <class T>
    using As = T;

    Reader(const json& object, std::string place) : object_(object), place_(std::move(place)) {
        if (!object_.is_object()) fail_file(place_, ": ", object_.type_name(), ", expected an object");
    }

    template <class T>
    void operator()(const char* key, T& out) {
        const auto found = object_.find(key);
        if (found == object_.end()) fail_file(place_, ": no '", key, "', expected one");
        decode(*found, place_ + "." + key, out);
        ++num_read_;
        known_ += std::string(num_read_ > 1 ? ", " : "") + key;
    }

    /// A key that may be missing.
    template <class T>
    void if_given(const char* key, std::optional<T>& out) {
        out.reset();
        if (object_.contains(key)) (*this)(key, out.emplace());
    }
    void if_set(const char* key, bool& out) {
        out = false;
        if (object_.contains(key)) (*this)(key, out);
    }

    void finish() const {
        if (num_read_ != object_.size()) fail_file(place_, ": ", object_.size(), " keys, expected exactly ", known_);
    }

    static void decode(const json& value, const std::string& place, double& out) {
        if (value.is_number()) {
            out = value.get<double>();
            return;
        }
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (text == "inf") {
            out = kInfinity;
        } else if (text == "-inf") {
            out = -kInfinity;
        } else if (text == "nan") {
            out = std::numeric_limits<double>::quiet_NaN();
        } else {
            wrong(value, place, "a number");
        }
    }

    static void decode(const json& value, const std::string& place, int& out) { out = integer<int>(value, place); }

    static void decode(const json& value, const std::string& place, unsigned& out) {
        out = integer<unsigned>(value, place);
    }

    static void decode(const json& value, const std::string& place, bool& out) {
        if (!value.is_boolean()) wrong(value, place, "true or false");
        out = value.get<bool>();
    }

    static void decode(const json& value, const std::string& place, std::string& out) {
        if (!value.is_string()) wrong(value, place, "a text");
        out = value.get<std::string>();
    }

    static void decode(const json& value, const std::string& place, Eigen::Quaterniond& out) {
        Eigen::Vector4d wxyz;
        decode(value, place, wxyz);
        out = Eigen::Quaterniond(wxyz[0], wxyz[1], wxyz[2], wxyz[3]);
    }

    template <int Rows, int Cols>
    static void decode(const json& value, const std::string& place, Eigen::Matrix<double, Rows, Cols>& out) {
        if (!value.is_array()) wrong(value, place, "a list of numbers");
        if constexpr (Rows == Eigen::Dynamic) {
            out.resize(static_cast<Eigen::Index>(value.size()));
        } else if (value.size() != static_cast<std::size_t>(Rows * Cols)) {
            fail_file(place, ": ", value.size(), " numbers, expected ", Rows * Cols);
        }
        std::size_t i = 0;
        for (Eigen::Index r = 0; r < out.rows(); ++r) {
            for (Eigen::Index c = 0; c < out.cols(); ++c) decode(value[i++], place, out(r, c));
        }
    }

    template <class T>
    static void decode(const json& value, const std::string& place, std::optional<T>& out) {
        if (value.is_null()) return out.reset();
        decode(value, place, out.emplace());
    }

    template <class T>
    static void decode(const json& value, const std::string& place, std::vector<T>& out) {
        if (!value.is_array()) wrong(value, place, "a list");
        out.clear();
        for (const json& item : value) {
            const std::string item_place = place + "[" + std::to_string(out.size()) + "]";
            decode(item, item_place, out.emplace_back());
        }
    }

    template <class T>
    static void decode(const json& value, const std::string& place, T& out) {
        if constexpr (std::is_enum_v<T>) {
            const std::string text = value.is_string() ? value.get<std::string>() : "";
            std::string known;
            for (std::size_t i = 0; i < Words<T>::all.size(); ++i) {
                if (text == Words<T>::all[i]) {
                    out = static_cast<T>(i);
                    return;
                }
                known += std::string(i > 0 ? ", " : "one of ") + Words<T>::all[i];
            }
            wrong(value, place, known);
        } else {
            Reader reader(value, place);
            fields(reader, out);
            reader.finish();
        }
    }

 private:
    [[noreturn]] static void wrong(const json& value, const std::string& place, const std::string& expected) {
        constexpr std::size_t kLongest = 40;
        const bool shown =
            value.is_primitive() && !(value.is_string() && value.get_ref<const std::string&>().size() > kLongest);
        fail_file(place, ": ", shown ? value.dump() : value.type_name(), ", expected ", expected);
    }

    template <class Integer>
    static Integer integer(const json& value, const std::string& place) {
        constexpr std::int64_t kLow = std::numeric_limits<Integer>::min(), kHigh = std::numeric_limits<Integer>::max();
        // Larger unsigned numbers would wrap to negative ones when read as signed.
        const bool whole = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kHigh)
                                                      : value.is_number_integer() && value.get<std::int64_t>() >= kLow;
        if (!whole) wrong(value, place, "a whole number from " + std::to_string(kLow) + " to " + std::to_string(kHigh));
        return static_cast<Integer>(value.get<std::int64_t>());
    }

    const json& object_;
    std::string place_, known_;
    std::size_t num_read_ = 0;
};

}  // namespace

std::string scene_to_json(const Scene& scene, const std::string& place) {
    return dump_strict(Writer::encode(scene), place + ": scene");
}

Scene scene_from_json(const std::string& text, const std::string& place) {
    const std::string here = place + ": scene";
    const json value = parse_strict(text, here, kMaxSceneDepth);
    Scene scene;
    Reader::decode(value, here, scene);
    return scene;
}

}  // namespace farfield
