// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  All that a program needs: describe or load a scene, roll it out with contact, and take the gradient back.
///
///     Scene -> build_model -> Model, Parameters -> rollout -> Trajectory -> rollout_vjp, step_jacobian
///                                     make_contact ---^   or step by step: Simulation
#include "farfield/base/error.hpp"
#include "farfield/base/thread_pool.hpp"
#include "farfield/contact/make_contact.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/simulation.hpp"
#include "farfield/dynamics/step_jacobian.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/io/model_file.hpp"
#include "farfield/io/simulation_file.hpp"
#include "farfield/io/trajectory_file.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/model/model.hpp"
#include "farfield/scene/scene.hpp"
