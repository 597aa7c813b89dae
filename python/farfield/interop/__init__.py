# SPDX-License-Identifier: Apache-2.0
"""Rollouts inside the tools people train and plan with: `farfield.interop.torch`, `farfield.interop.jax`, `farfield.interop.gym`.

Each needs its framework (``pip install farfield[torch]``, ``[jax]``, ``[gym]``) and none is imported before it is asked for.
"""
