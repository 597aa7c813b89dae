# SPDX-License-Identifier: Apache-2.0
"""The live view, two motions side by side, movies, and what a picture says about itself."""

import dataclasses

import numpy as np
import pytest
from PIL import Image

import farfield as ff
from farfield.cli import main
from farfield.viewer import load_recording, record
from farfield.viewer.live import open_live
from farfield.viewer.movie import write_movie
from farfield.viewer.recording import beside
from farfield.viewer.replay import write_replay
from farfield.viewer.stage import Stage, quiet_server
from test_viewer import browser, make_recording, page  # noqa: F401, fixtures


def boxes() -> ff.Model:
    """Two boxes above the ground; one wears a larger shape that does not collide. A hinge with a motor stands beside."""
    scene = ff.Scene(name="live")
    scene.add_shape(0, name="ground", type="HalfSpace")
    for k in range(2):
        scene.add_body(name=f"box{k}", position=[0.4 * k, 0.0, 0.105])
        scene.add_joint(f"box{k}", name=f"box{k}", type="Free")
        scene.add_shape(f"box{k}", type="Box", size=[0.1, 0.1, 0.1], color=[0.9, 0.05, 0.05, 1.0])
    scene.add_shape(
        "box1", type="Sphere", size=[0.12, 0.0, 0.0], collides=False, density=0.0, color=[0.05, 0.1, 0.9, 1.0]
    )
    scene.add_body(name="arm", position=[-0.6, 0.0, 0.5])
    scene.add_joint("arm", name="hinge", type="Hinge", axis=[0.0, 1.0, 0.0])
    scene.add_shape("arm", type="Box", size=[0.02, 0.02, 0.1])
    scene.add_actuator(name="motor", type="Motor", joint="hinge", control_range=(-2.0, 2.0))
    return ff.build_model(scene)


@pytest.fixture
def live():
    model = boxes()
    with open_live(ff.Simulation(model, dt=0.01), model.default_control(), port=0) as (view, address):
        view.address = address
        yield view


def test_it_plays_pauses_steps_and_resets(live):
    start = live.simulation.state.q.copy()
    live.advance(1.0)
    assert live.time == 0.0  # paused
    live.step()
    assert live.time == pytest.approx(0.01)
    live.playing.value = True
    for _ in range(10):
        live.advance(0.02)
    assert 0.05 < live.time < 0.215
    assert not np.array_equal(live.simulation.state.q, start)
    live.reset()
    assert live.time == 0.0 and np.array_equal(live.simulation.state.q, start)


def test_sliders_are_the_controls_and_have_their_range(live):
    (slider,) = live.sliders
    assert (slider.label, slider.min, slider.max) == ("motor", -2.0, 2.0)
    hinge = live.simulation.model.joint_dofs("hinge")
    live.step()
    at_rest = float(live.simulation.state.v[hinge][0])
    slider.value = 2.0
    live.step()
    assert float(live.simulation.state.v[hinge][0]) > at_rest + 1e-3


def test_a_spring_drags_a_body_and_contact_holds(live):
    model = live.simulation.model
    live.dragged.value = "box0"
    live._take_hold()
    np.testing.assert_allclose(live.handle.position, [0.0, 0.0, 0.105])
    live.handle.position = (0.4, 0.0, 0.5)  # over the other box
    for _ in range(150):
        live.step()
    place = live._poses()[model.body("box0"), :3]
    np.testing.assert_allclose(place, [0.4, 0.0, 0.5], atol=0.12)  # it hangs below its handle by its weight
    live.handle.position = (0.4, 0.0, 0.0)  # into the other box
    for _ in range(60):
        live.step()
    assert not live.trouble and live.simulation.find_intersection() is None
    live.dragged.value = "none"
    live._take_hold()
    assert not live.handle.visible


def test_forces_have_a_scale_and_gaps_are_listed(live):
    for _ in range(40):
        live.step()
    assert "box0" in live.gaps.content and "gap [mm]" in live.gaps.content
    arrows = live._stage._points["contact forces"]
    up = arrows[:, 1] - arrows[:, 0]
    weight = sum(float(np.asarray(live._parameters.moments)[k, 0]) for k in (1, 2)) * 9.81
    assert abs(up[:, 2].sum()) / live._newton == pytest.approx(weight, rel=0.05)
    live.forces.value = False
    live.step()
    assert len(live._stage._points["contact forces"]) == 0


def test_it_is_seen_in_a_browser(live, page):  # noqa: F811
    page.page.goto(live.address)
    red = lambda image: (image[..., 0] > 2.0 * image[..., 1] + 30.0).sum() > 60  # noqa: E731
    page.screenshot_where(red, "the red box", between=live.step)
    text = page.page.inner_text("body")
    for label in ("play", "step", "reset", "speed", "contact forces", "nearest pairs", "motor", "drag", "shapes"):
        assert label in text, label
    page.page.get_by_role("button", name="step").click()
    assert page.errors == []


def test_shapes_for_the_eye_or_those_that_collide():
    model = boxes()
    recording = record(
        model,
        np.asarray(ff.forward_kinematics(model, model.default_parameters(), model.default_state().q))[None],
        dt=0.1,
    )
    kinds = {(model.body_names[each.body], each.visual, each.collides) for each in recording.drawables}
    assert kinds == {("box0", True, True), ("box1", False, True), ("box1", True, False), ("arm", True, True)}
    with quiet_server() as server:
        stage = Stage(server, recording, switchable=True)
        visible = lambda: [mesh.visible for _, mesh in stage._meshes]  # noqa: E731
        assert visible() == [each.visual for each in recording.drawables]
        stage.show_shapes(collision=True)
        assert visible() == [each.collides for each in recording.drawables]


def test_two_motions_side_by_side():
    first, second = make_recording(frames=30), make_recording(frames=10, dt=1 / 15)
    both = beside(first, second)
    assert (both.num_bodies, both.num_frames, both.dt) == (8, 30, first.dt)
    np.testing.assert_array_equal(both.poses[:, :4], first.poses)
    shift = both.poses[0, 4:, :3] - second.poses[0, :, :3]
    assert (shift[:, 1] > 0.5).all() and np.ptp(shift, axis=0).max() < 1e-12
    np.testing.assert_array_equal(both.poses[-1, 4:, 3:], second.poses[-1, :, 3:])  # the shorter one stays
    assert {"contact forces, first", "contact forces, second"} == set(both.arrows)
    spans = [
        [
            np.concatenate([both.poses[:, each.body, 1] for each in both.drawables if (each.body >= 4) == late])
            for late in (False, True)
        ]
    ]
    assert spans[0][0].max() < spans[0][1].min()


@pytest.mark.parametrize("name", ["motion.gif", "motion.mp4"])
def test_movies(name, tmp_path):
    recording = make_recording(frames=16, dt=1 / 15, arrows=False)
    assert write_movie(recording, tmp_path / name, rate=5.0, size=(64, 48)) == 6
    if name.endswith("gif"):
        with Image.open(tmp_path / name) as film:
            assert (film.n_frames, film.size, film.info["duration"]) == (6, (64, 48), 200)
    else:
        import imageio_ffmpeg

        frames = imageio_ffmpeg.read_frames(str(tmp_path / name))
        about = next(frames)
        assert about["size"] == (64, 48) and about["fps"] == 5.0
        assert sum(1 for _ in frames) == 6


def test_a_movie_needs_a_known_name(tmp_path):
    with pytest.raises(ValueError, match=r"expected a name that ends with \.gif or \.mp4"):
        write_movie(make_recording(frames=2), tmp_path / "motion.avi")


def test_a_replay_says_what_arrows_and_curve_mean(tmp_path):
    recording = dataclasses.replace(make_recording(frames=3), legends={"contact forces": "0.4 m is 3 N"})
    write_replay(tmp_path / "a.html", recording, loss=[4.0, 2.0, 0.5])
    text = (tmp_path / "a.html").read_text()
    assert "contact forces: 0.4 m is 3 N" in text
    assert ">4</text>" in text and ">0.5</text>" in text and ">iteration 3</text>" in text


def test_the_command_shows_two_runs_and_writes_a_movie(tmp_path, capsys):
    for k in range(2):
        assert (
            main(
                [
                    "run",
                    "push",
                    "--seed",
                    str(k),
                    "--set",
                    "frames=2",
                    "--iterations",
                    "1",
                    "--set",
                    "first_iterations=1",
                    "--out",
                    str(tmp_path / str(k)),
                    "--quiet",
                ]
            )
            == 1
        )
    replay = load_recording(tmp_path / "0" / "trajectory.safetensors", tmp_path / "0" / "overlays.npz")
    assert " N; four times the force" in replay.legends["contact forces"]
    assert (
        main(
            [
                "view",
                str(tmp_path / "0"),
                str(tmp_path / "1"),
                "--html",
                str(tmp_path / "both.html"),
                "--movie",
                str(tmp_path / "both.gif"),
            ]
        )
        == 0
    )
    assert "push | push" in (tmp_path / "both.html").read_text()
    assert (tmp_path / "both.gif").read_bytes()[:4] == b"GIF8"
    capsys.readouterr()
    assert main(["view", str(ff.scene_file("push.xml")), "--html", str(tmp_path / "live.html")]) == 2
    assert "a file is stepped live" in capsys.readouterr().err
