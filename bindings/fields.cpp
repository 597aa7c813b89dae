// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

namespace farfield::python {

using namespace nb::literals;

std::string describe(nb::handle value) {
    constexpr size_t kLongest = 60;
    std::string text = nb::repr(value).c_str();
    if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
    return std::string(nb::str(value.type().attr("__name__")).c_str()) + " " + text;
}

namespace {

using DoubleArray = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// Any array-like as contiguous doubles; complaints carry `place` and `expected`.
DoubleArray doubles(nb::handle value, const std::string& place, const std::string& expected) {
    try {
        nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(value, "dtype"_a = "float64");
        return nb::cast<DoubleArray>(array);
    } catch (const nb::python_error&) {
        fail(place, ": got ", describe(value), ", expected ", expected);
    }
}

template <class Array>
std::string shape_text(const Array& array) {
    std::string text = "(";
    for (size_t k = 0; k < array.ndim(); ++k) text += (k ? ", " : "") + std::to_string(array.shape(k));
    return text + ")";
}

void expect_finite(const double* data, size_t count, const std::string& place, size_t columns) {
    for (size_t k = 0; k < count; ++k) {
        if (std::isfinite(data[k])) continue;
        const std::string at =
            columns ? std::to_string(k / columns) + ", " + std::to_string(k % columns) : std::to_string(k);
        fail(place, ": entry [", at, "] is ", data[k], ", expected finite numbers");
    }
}

/// `count` finite numbers in a row.
DoubleArray row(nb::handle value, const std::string& place, size_t count, const std::string& meaning) {
    const std::string expected = std::to_string(count) + " numbers" + meaning;
    DoubleArray array = doubles(value, place, expected);
    if (array.ndim() != 1 || array.shape(0) != count) {
        fail(place, ": got shape ", shape_text(array), ", expected ", expected);
    }
    expect_finite(array.data(), count, place, 0);
    return array;
}

template <class Scalar>
nb::object read_only_copy(const Scalar* data, std::initializer_list<size_t> shape) {
    size_t count = 1;
    for (size_t extent : shape) count *= extent;
    auto* copy = new Scalar[count];
    std::copy_n(data, count, copy);
    nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<Scalar*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, const Scalar>(copy, shape, owner));
}

template <class Enum>
void read_enum(nb::handle value, const std::string& place, Enum& out) {
    if (nb::isinstance<Enum>(value)) {
        out = nb::cast<Enum>(value);
        return;
    }
    const auto lower = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
        return text;
    };
    std::string known;
    for (nb::handle member : nb::type<Enum>()) {
        std::string name = nb::cast<std::string>(member.attr("name"));
        if (name.back() == '_') name.pop_back();  // None_ is spelled "none"
        if (nb::isinstance<nb::str>(value) && lower(nb::cast<std::string>(value)) == lower(name)) {
            out = nb::cast<Enum>(member);
            return;
        }
        known += (known.empty() ? "" : ", ") + name;
    }
    fail(place, ": got ", describe(value), ", expected one of ", known);
}

long long integer(nb::handle value, const std::string& place, long long low, long long high) {
    nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid() || nb::isinstance<nb::bool_>(value)) {
        PyErr_Clear();
        fail(place, ": got ", describe(value), ", expected an integer");
    }
    int overflow = 0;
    const long long result = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow || result < low || result > high) {
        fail(place, ": got ", describe(value), ", expected an integer from ", low, " to ", high);
    }
    return result;
}

double number(nb::handle value, const std::string& place) {
    const double result = nb::isinstance<nb::str>(value) ? -1.0 : PyFloat_AsDouble(value.ptr());
    if (nb::isinstance<nb::str>(value) || PyErr_Occurred()) {
        PyErr_Clear();
        fail(place, ": got ", describe(value), ", expected a number");
    }
    return result;
}

}  // namespace

void read(nb::handle value, const std::string& place, double& out) {
    const double result = number(value, place);
    if (!std::isfinite(result)) fail(place, ": got ", result, ", expected a finite number");
    out = result;
}

void read(nb::handle value, const std::string& place, int& out) {
    out = static_cast<int>(integer(value, place, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

void read(nb::handle value, const std::string& place, unsigned& out) {
    out = static_cast<unsigned>(integer(value, place, 0, std::numeric_limits<unsigned>::max()));
}

void read(nb::handle value, const std::string& place, bool& out) {
    const nb::object numpy_bool = nb::module_::import_("numpy").attr("bool_");
    if (!nb::isinstance<nb::bool_>(value) && !nb::isinstance(value, numpy_bool)) {
        fail(place, ": got ", describe(value), ", expected True or False");
    }
    out = PyObject_IsTrue(value.ptr()) == 1;
}

void read(nb::handle value, const std::string& place, std::string& out) {
    if (!nb::isinstance<nb::str>(value)) fail(place, ": got ", describe(value), ", expected a string");
    out = nb::cast<std::string>(value);
}

void read(nb::handle value, const std::string& place, Eigen::Vector3d& out) {
    out = Eigen::Map<const Eigen::Vector3d>(row(value, place, 3, "").data());
}

void read(nb::handle value, const std::string& place, Eigen::Vector4d& out) {
    out = Eigen::Map<const Eigen::Vector4d>(row(value, place, 4, "").data());
}

void read(nb::handle value, const std::string& place, Eigen::VectorXd& out) {
    const DoubleArray array = doubles(value, place, "a row of numbers");
    if (array.ndim() != 1) fail(place, ": got shape ", shape_text(array), ", expected a row of numbers, shape (n,)");
    expect_finite(array.data(), array.size(), place, 0);
    out = Eigen::Map<const Eigen::VectorXd>(array.data(), static_cast<Eigen::Index>(array.size()));
}

void read(nb::handle value, const std::string& place, Eigen::Matrix3d& out) {
    const DoubleArray array = doubles(value, place, "a 3 x 3 matrix");
    if (array.ndim() != 2 || array.shape(0) != 3 || array.shape(1) != 3) {
        fail(place, ": got shape ", shape_text(array), ", expected (3, 3)");
    }
    expect_finite(array.data(), 9, place, 3);
    out = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(array.data());
}

void read(nb::handle value, const std::string& place, Eigen::Quaterniond& out) {
    const DoubleArray array = row(value, place, 4, " (w, x, y, z)");
    const double* q = array.data();
    const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(norm > 1e-8)) fail(place, ": quaternion of norm ", norm, ", expected a rotation (w, x, y, z) of norm 1");
    // A unit quaternion passes through unchanged, so that reading what was shown gives the same bits.
    const double scale = std::abs(norm - 1.0) < 1e-15 ? 1.0 : norm;
    out = Eigen::Quaterniond(q[0] / scale, q[1] / scale, q[2] / scale, q[3] / scale);
}

void read(nb::handle value, const std::string& place, Vertices& out) {
    const DoubleArray array = doubles(value, place, "an array of shape (n, 3)");
    if (array.size() != 0 && (array.ndim() != 2 || array.shape(1) != 3)) {
        fail(place, ": got shape ", shape_text(array), ", expected (n, 3)");
    }
    expect_finite(array.data(), array.size(), place, 3);
    out = Eigen::Map<const Vertices>(array.data(), static_cast<Eigen::Index>(array.size() / 3), 3);
}

void read(nb::handle value, const std::string& place, Triangles& out) {
    using IntArray = nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>;
    const nb::module_ numpy = nb::module_::import_("numpy");
    nb::object object;
    try {
        object = numpy.attr("asarray")(value);
        if (nb::cast<size_t>(object.attr("size")) == 0) {
            out.resize(0, 3);
            return;
        }
        object = numpy.attr("ascontiguousarray")(object.attr("astype")("int64", "casting"_a = "same_kind"));
    } catch (const nb::python_error&) {
        fail(place, ": got ", describe(value), ", expected integers of shape (n, 3)");
    }
    const auto array = nb::cast<IntArray>(object);
    if (array.ndim() != 2 || array.shape(1) != 3) fail(place, ": got shape ", shape_text(array), ", expected (n, 3)");
    Triangles result(static_cast<Eigen::Index>(array.shape(0)), 3);
    for (size_t k = 0; k < array.size(); ++k) {
        if (array.data()[k] < 0 || array.data()[k] > std::numeric_limits<int>::max()) {
            fail(place, ": entry [", k / 3, ", ", k % 3, "] is ", array.data()[k], ", expected a vertex index >= 0");
        }
        result.data()[k] = static_cast<int>(array.data()[k]);
    }
    out = std::move(result);
}

void read(nb::handle value, const std::string& place, std::vector<double>& out) {
    Eigen::VectorXd numbers;
    read(value, place, numbers);
    out.assign(numbers.begin(), numbers.end());
}

void read(nb::handle value, const std::string& place, NamePair& out) {
    std::vector<std::string> names;
    read(value, place, names);
    if (names.size() != 2) fail(place, ": got ", names.size(), " names, expected 2");
    out = {names[0], names[1]};
}

void read(nb::handle value, const std::string& place, std::optional<Range>& out) {
    if (value.is_none()) {
        out.reset();
        return;
    }
    Range range;
    if (nb::isinstance<Range>(value)) {
        range = nb::cast<Range>(value);
    } else {
        const DoubleArray ends = row(value, place, 2, " (lower, upper)");
        range = {ends.data()[0], ends.data()[1]};
    }
    if (range.lower > range.upper) {
        fail(place, ": got (", range.lower, ", ", range.upper, "), expected lower <= upper");
    }
    out = range;
}

void read(nb::handle value, const std::string& place, JointType& out) { read_enum(value, place, out); }
void read(nb::handle value, const std::string& place, BodyMotion& out) { read_enum(value, place, out); }
void read(nb::handle value, const std::string& place, ShapeType& out) { read_enum(value, place, out); }
void read(nb::handle value, const std::string& place, ContactPolicy& out) { read_enum(value, place, out); }
void read(nb::handle value, const std::string& place, ActuatorType& out) { read_enum(value, place, out); }
void read(nb::handle value, const std::string& place, ConstraintType& out) { read_enum(value, place, out); }

nb::object show(const Eigen::Vector3d& value) { return read_only_copy(value.data(), {3}); }
nb::object show(const Eigen::Vector4d& value) { return read_only_copy(value.data(), {4}); }
nb::object show(const Eigen::VectorXd& value) {
    return read_only_copy(value.data(), {static_cast<size_t>(value.size())});
}
nb::object show(const Eigen::Matrix3d& value) {
    const Eigen::Matrix<double, 3, 3, Eigen::RowMajor> rows = value;
    return read_only_copy(rows.data(), {3, 3});
}
nb::object show(const Eigen::Quaterniond& value) {
    const std::array<double, 4> wxyz{value.w(), value.x(), value.y(), value.z()};
    return read_only_copy(wxyz.data(), {4});
}
nb::object show(const Vertices& value) { return read_only_copy(value.data(), {static_cast<size_t>(value.rows()), 3}); }
nb::object show(const Triangles& value) { return read_only_copy(value.data(), {static_cast<size_t>(value.rows()), 3}); }
nb::object show(const NamePair& value) { return nb::make_tuple(value.first, value.second); }

}  // namespace farfield::python
