// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Plain structs in Python: one table of fields gives keyword-only constructors, read-only attributes,
///        `replace`, pickling, `repr`, and errors that name the element, the value and the expectation.
///
/// Structs are values: what Python reads from a Scene is a copy, so attributes are read-only and a change is
/// written as `value.replace(field=...)`. An assignment that would be lost is an AttributeError instead.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/geometry/moments.hpp"
#include "farfield/scene/scene.hpp"

namespace farfield::python {

namespace nb = nanobind;
using Vertices = decltype(TriangleMesh::vertices);
using Triangles = decltype(TriangleMesh::triangles);
using NamePair = std::pair<std::string, std::string>;

/// Python -> C++. `place` names the element and field; a value that does not fit throws ValueError.
void read(nb::handle value, const std::string& place, double& out);
void read(nb::handle value, const std::string& place, int& out);
void read(nb::handle value, const std::string& place, unsigned& out);
void read(nb::handle value, const std::string& place, bool& out);
void read(nb::handle value, const std::string& place, std::string& out);
void read(nb::handle value, const std::string& place, Eigen::Vector3d& out);
void read(nb::handle value, const std::string& place, Eigen::Vector4d& out);
void read(nb::handle value, const std::string& place, Eigen::VectorXd& out);
void read(nb::handle value, const std::string& place, Eigen::Matrix3d& out);
void read(nb::handle value, const std::string& place, Eigen::Quaterniond& out);
void read(nb::handle value, const std::string& place, Vertices& out);
void read(nb::handle value, const std::string& place, Triangles& out);
void read(nb::handle value, const std::string& place, std::vector<double>& out);
void read(nb::handle value, const std::string& place, NamePair& out);
void read(nb::handle value, const std::string& place, std::optional<Range>& out);
void read(nb::handle value, const std::string& place, JointType& out);
void read(nb::handle value, const std::string& place, BodyMotion& out);
void read(nb::handle value, const std::string& place, ShapeType& out);
void read(nb::handle value, const std::string& place, ContactPolicy& out);
void read(nb::handle value, const std::string& place, ActuatorType& out);
void read(nb::handle value, const std::string& place, ConstraintType& out);

/// "TypeName repr(value)", shortened, for error texts.
std::string describe(nb::handle value);

/// C++ -> Python; arrays are read-only copies, lists are tuples.
nb::object show(const Eigen::Vector3d& value);
nb::object show(const Eigen::Vector4d& value);
nb::object show(const Eigen::VectorXd& value);
nb::object show(const Eigen::Matrix3d& value);
nb::object show(const Eigen::Quaterniond& value);
nb::object show(const Vertices& value);
nb::object show(const Triangles& value);
nb::object show(const NamePair& value);

template <class Value>
nb::object show(const Value& value) {
    return nb::cast(value, nb::rv_policy::copy);
}

template <class Value>
nb::object show(const std::optional<Value>& value) {
    return value ? show(*value) : nb::none();
}

template <class Value>
nb::object show(const std::vector<Value>& values) {
    nb::list list;
    for (const Value& value : values) list.append(show(value));
    return nb::tuple(list);
}

template <class Struct>
requires std::is_class_v<Struct>
void read(nb::handle value, const std::string& place, Struct& out) {
    if (!nb::isinstance<Struct>(value)) {
        fail(place, ": got ", describe(value), ", expected a ", nb::str(nb::type<Struct>().attr("__name__")).c_str());
    }
    out = nb::cast<Struct>(value);
}

template <class Value>
void read(nb::handle value, const std::string& place, std::optional<Value>& out) {
    if (value.is_none()) {
        out.reset();
        return;
    }
    read(value, place, out.emplace());
}

template <class Value>
void read(nb::handle value, const std::string& place, std::vector<Value>& out) {
    if (!PySequence_Check(value.ptr()) || nb::isinstance<nb::str>(value)) {
        fail(place, ": got ", describe(value), ", expected a list");
    }
    std::vector<Value> values;
    for (nb::handle item : value) {
        const std::string entry = place + "[" + std::to_string(values.size()) + "]";
        read(item, entry, values.emplace_back());
    }
    out = std::move(values);
}

/// Python spellings of the field types, for signatures and stubs.
template <class Value>
struct Spelling;  // {in: accepted, out: returned}

template <class T>
struct Field {
    std::string name, accepts, returns, doc;
    std::function<nb::object(const T&)> get;
    std::function<void(T&, nb::handle, const std::string&)> set;
};

template <class T, class Value>
Field<T> field(const char* name, Value T::*member, const char* doc) {
    return {name,
            Spelling<Value>::in(),
            Spelling<Value>::out(),
            doc,
            [member](const T& self) { return show(self.*member); },
            [member](T& self, nb::handle value, const std::string& place) { read(value, place, self.*member); }};
}

/// The fields of T under its Python name.
template <class T>
class FieldTable {
 public:
    FieldTable(std::string type_name, std::vector<Field<T>> fields)
        : type_name_(std::move(type_name)), fields_(std::move(fields)) {}

    /// Writes every entry of `changes` into `value`, or throws and leaves it as it was.
    void assign(T& value, nb::dict changes) const {
        T result = value;
        std::string place = type_name_;
        if constexpr (requires { result.name; }) {
            if (changes.contains("name")) read(changes["name"], type_name_ + ": name", result.name);
            if (!result.name.empty()) place += " '" + result.name + "'";
        }
        for (auto [key, item] : changes) {
            const std::string name = nb::cast<std::string>(key);
            find(name, place).set(result, item, place + ": " + name);
        }
        value = std::move(result);
    }

    nb::dict as_dict(const T& value) const {
        nb::dict result;
        for (const Field<T>& f : fields_) result[f.name.c_str()] = f.get(value);
        return result;
    }

    /// "name: str = '', mass: float = 0.0": the keyword parameters of a signature.
    std::string parameters(std::string_view except = {}) const {
        std::string text;
        const T initial{};
        for (const Field<T>& f : fields_) {
            if (f.name == except) continue;
            const nb::object value = f.get(initial);
            const bool plain = value.is_none() || nb::isinstance<nb::str>(value) || nb::isinstance<nb::float_>(value) ||
                               nb::isinstance<nb::int_>(value) || nb::isinstance<nb::bool_>(value);
            const bool enumerator = PyObject_HasAttrString(value.ptr(), "_value_") == 1;
            text += (text.empty() ? "" : ", ") + f.name + ": " + f.accepts + " = " +
                    (plain && !enumerator ? nb::repr(value).c_str() : "...");
        }
        return text;
    }

    const std::string& type_name() const { return type_name_; }
    const std::vector<Field<T>>& fields() const { return fields_; }

 private:
    const Field<T>& find(const std::string& name, const std::string& place) const {
        std::string known;
        for (const Field<T>& f : fields_) {
            if (f.name == name) return f;
            known += (known.empty() ? "" : ", ") + f.name;
        }
        fail(place, ": unknown field '", name, "', expected one of ", known);
    }

    std::string type_name_;
    std::vector<Field<T>> fields_;
};

template <class T>
using Table = std::shared_ptr<const FieldTable<T>>;

/// Attributes that write through: only for a type that Python holds itself, never for copies out of a list.
template <class T>
void bind_setters(nb::class_<T>& class_, const Table<T>& table) {
    for (const Field<T>& f : table->fields()) {
        class_.def_prop_rw(
            f.name.c_str(), [get = f.get](const T& self) { return get(self); },
            [set = f.set, place = table->type_name() + ": " + f.name](T& self, nb::handle value) {
                set(self, value, place);
            },
            nb::for_getter(nb::sig(("def " + f.name + "(self) -> " + f.returns).c_str())),
            nb::for_setter(nb::sig(("def " + f.name + "(self, value: " + f.accepts + ") -> None").c_str())),
            f.doc.c_str());
    }
}

/// Binds T with the given fields; `class_` may be extended by the caller afterwards.
template <class T>
Table<T> bind_fields(nb::class_<T>& class_, const char* type_name, std::vector<Field<T>> fields) {
    const auto table = std::make_shared<const FieldTable<T>>(type_name, std::move(fields));
    const std::string parameters = table->parameters();
    class_.def(
        "__init__",
        [table](T* self, nb::kwargs values) {
            T result;
            table->assign(result, values);
            new (self) T(std::move(result));
        },
        nb::sig(("def __init__(self, *, " + parameters + ") -> None").c_str()));
    class_.def(
        "replace",
        [table](const T& self, nb::kwargs changes) {
            T result = self;
            table->assign(result, changes);
            return result;
        },
        nb::sig(("def replace(self, *, " + parameters + ") -> " + type_name).c_str()),
        "A copy with the given fields changed.");
    for (const Field<T>& f : table->fields()) {
        class_.def_prop_ro(
            f.name.c_str(), [get = f.get](const T& self) { return get(self); },
            nb::for_getter(nb::sig(("def " + f.name + "(self) -> " + f.returns).c_str())), f.doc.c_str());
    }
    class_.def("__repr__", [table](const T& self) {
        std::string text;
        for (auto [key, value] : table->as_dict(self)) {
            text += (text.empty() ? "" : ", ") + nb::cast<std::string>(key) + "=" + nb::repr(value).c_str();
        }
        return table->type_name() + "(" + text + ")";
    });
    class_.def("__getstate__", [table](const T& self) { return table->as_dict(self); });
    class_.def("__setstate__", [table](T& self, nb::dict state) {
        T result;
        table->assign(result, state);
        new (&self) T(std::move(result));
    });
    return table;
}

#define FARFIELD_SPELLING(Type, In, Out)         \
    template <>                                  \
    struct Spelling<Type> {                      \
        static std::string in() { return In; }   \
        static std::string out() { return Out; } \
    }
FARFIELD_SPELLING(double, "float", "float");
FARFIELD_SPELLING(int, "int", "int");
FARFIELD_SPELLING(unsigned, "int", "int");
FARFIELD_SPELLING(bool, "bool", "bool");
FARFIELD_SPELLING(std::string, "str", "str");
FARFIELD_SPELLING(Eigen::Vector3d, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Eigen::Vector4d, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Eigen::VectorXd, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Eigen::Matrix3d, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Eigen::Quaterniond, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Vertices, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]");
FARFIELD_SPELLING(Triangles, "numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.int32]");
FARFIELD_SPELLING(std::optional<Range>, "Range | tuple[float, float] | None", "Range | None");
FARFIELD_SPELLING(JointType, "JointType | str", "JointType");
FARFIELD_SPELLING(BodyMotion, "BodyMotion | str", "BodyMotion");
FARFIELD_SPELLING(ShapeType, "ShapeType | str", "ShapeType");
FARFIELD_SPELLING(ContactPolicy, "ContactPolicy | str", "ContactPolicy");
FARFIELD_SPELLING(ActuatorType, "ActuatorType | str", "ActuatorType");
FARFIELD_SPELLING(ConstraintType, "ConstraintType | str", "ConstraintType");
FARFIELD_SPELLING(Moments, "Moments", "Moments");
FARFIELD_SPELLING(Joint, "Joint", "Joint");
FARFIELD_SPELLING(Body, "Body", "Body");
FARFIELD_SPELLING(TriangleMesh, "TriangleMesh", "TriangleMesh");
FARFIELD_SPELLING(Shape, "Shape", "Shape");
FARFIELD_SPELLING(Actuator, "Actuator", "Actuator");
FARFIELD_SPELLING(Tie, "Tie", "Tie");
FARFIELD_SPELLING(LengthTerm, "LengthTerm", "LengthTerm");
FARFIELD_SPELLING(Tendon, "Tendon", "Tendon");
FARFIELD_SPELLING(Constraint, "Constraint", "Constraint");
FARFIELD_SPELLING(PairFriction, "PairFriction", "PairFriction");
FARFIELD_SPELLING(PairContact, "PairContact", "PairContact");
FARFIELD_SPELLING(Keyframe, "Keyframe", "Keyframe");
FARFIELD_SPELLING(NamePair, "tuple[str, str]", "tuple[str, str]");
#undef FARFIELD_SPELLING

template <class Value>
struct Spelling<std::optional<Value>> {
    static std::string in() { return Spelling<Value>::in() + " | None"; }
    static std::string out() { return Spelling<Value>::out() + " | None"; }
};
template <class Value>
struct Spelling<std::vector<Value>> {
    static std::string in() { return "collections.abc.Sequence[" + Spelling<Value>::in() + "]"; }
    static std::string out() { return "tuple[" + Spelling<Value>::out() + ", ...]"; }
};

}  // namespace farfield::python
