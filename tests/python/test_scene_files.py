# SPDX-License-Identifier: Apache-2.0
"""Robots and scenes that come with the package."""

import pytest

import farfield as ff


def test_every_scene_of_the_package_loads():
    for name in ("ant.xml", "arm7.xml", "bowl.xml", "push.xml"):
        model, _ = ff.load(ff.scene_file(name))
        assert model.num_dofs > 0


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(ValueError, match=r"scene file 'arm8.xml' is unknown, expected one of: ant.xml, arm7.xml"):
        ff.scene_file("arm8.xml")
