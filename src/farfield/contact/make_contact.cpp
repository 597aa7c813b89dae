// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/make_contact.hpp"

#include "farfield/base/error.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/contact/softmin/softmin.hpp"

namespace farfield::contact {

namespace {

struct Make {
    const Model& model;

    MadeContact operator()(const longrange::LongRangeOptions& options) const {
        return {.potential = std::make_shared<const longrange::LongRange>(model, options)};
    }
    MadeContact operator()(const polyhedral::PolyhedralOptions& options) const {
        return {.potential = std::make_shared<const polyhedral::Polyhedral>(model, options)};
    }
    MadeContact operator()(const ipc::IpcOptions& options) const {
        return {.potential = std::make_shared<const ipc::Ipc>(model, options)};
    }
    MadeContact operator()(const softmin::SoftminOptions& options) const {
        return {.law = std::make_shared<const softmin::Softmin>(model, options)};
    }
};

const std::vector<ContactOptions>& all_defaults() {
    static const std::vector<ContactOptions> all{longrange::LongRangeOptions{}, polyhedral::PolyhedralOptions{},
                                                 ipc::IpcOptions{}, ipc::IpcOptions{.form = ipc::Form::Global},
                                                 softmin::SoftminOptions{}};
    return all;
}

}  // namespace

MadeContact make_contact_model(const Model& model, const ContactOptions& options) {
    return std::visit(Make{model}, options);
}

std::shared_ptr<const ContactPotential> make_contact(const Model& model, const ContactOptions& options) {
    if (std::holds_alternative<softmin::SoftminOptions>(options))
        fail("make_contact: softmin is a force law, expected a potential; see make_contact_model");
    return make_contact_model(model, options).potential;
}

const char* name_of(const ContactOptions& options) {
    if (std::holds_alternative<longrange::LongRangeOptions>(options)) return "longrange";
    if (std::holds_alternative<polyhedral::PolyhedralOptions>(options)) return "polyhedral";
    if (std::holds_alternative<softmin::SoftminOptions>(options)) return "softmin";
    return std::get<ipc::IpcOptions>(options).form == ipc::Form::Global ? "ipc-global" : "ipc";
}

ContactOptions default_options(const std::string& name) {
    std::string names;
    for (const ContactOptions& options : all_defaults()) {
        if (name == name_of(options)) return options;
        names += (names.empty() ? "" : ", ") + std::string(name_of(options));
    }
    fail("contact model '", name, "' is unknown, expected one of: ", names);
}

}  // namespace farfield::contact
