# SPDX-License-Identifier: Apache-2.0
"""Replays, the interactive viewer and still pictures, looked at the way a user does: in a browser, pixel by pixel."""

import io
import shutil
import socket
import threading
import time

import numpy as np
import pytest
from PIL import Image

import farfield as ff
from box_model import CORNERS, FACES, Model
from farfield.viewer import Drawable, HalfSpace, Marker, Recording, load_overlays, load_recording, record, save_overlays
from farfield.viewer.camera import fit_camera, nice_length, plane_frame, rotation_matrices, scene_points
from farfield.viewer.raster import Canvas
from farfield.viewer.replay import MAX_FRAMES, MAX_POSES, playback_frames, write_replay
from farfield.viewer.still import render, render_png

RED = (0.9, 0.05, 0.05, 1.0)
BLUE = (0.05, 0.1, 0.9, 1.0)


def make_recording(frames=120, dt=1 / 30, *, arrows=True):
    """A tumbling red box that flies to the right, a falling blue L-shape and a block that stands still."""
    t = dt * np.arange(frames)
    poses = np.zeros((frames, 4, 7))
    poses[..., 3] = 1.0
    poses[:, 1, 0], poses[:, 1, 2] = -1.0 + 0.5 * t, 0.5 + 0.2 * np.sin(t)
    poses[:, 1, 3], poses[:, 1, 4], poses[:, 1, 5] = np.cos(t), 0.6 * np.sin(t), 0.8 * np.sin(t)
    poses[:, 2, :3] = [0.5, 0.6, 0.0]
    poses[:, 2, 2] = np.maximum(0.08, 1.2 - 0.5 * t)
    poses[:, 3, :3] = [-0.6, 0.8, 0.2]
    forces = [np.array([[[0, 0, 0], [0, 0, 0.4]]]) if k % 2 else np.zeros((0, 2, 3)) for k in range(frames)]
    return Recording(
        dt=dt,
        poses=poses,
        names=["world", "box", "ell", "block"],
        drawables=[
            Drawable(1, CORNERS * [0.25, 0.2, 0.15], FACES, RED),
            Drawable(2, CORNERS * [0.3, 0.08, 0.08], FACES, BLUE),
            Drawable(2, CORNERS * [0.08, 0.08, 0.3] + [0.25, 0, 0.2], FACES, BLUE),
            Drawable(3, CORNERS * 0.2, FACES),
        ],
        half_spaces=[HalfSpace(0)],
        arrows={"contact forces": forces} if arrows else {},
        trails={"box path": poses[:, 1, :3]},
        markers=[
            Marker("target", (1.2, 0.0, 0.3), 0.1, (0.1, 0.8, 0.2, 0.5)),
            Marker("place", (1.2, 0.0, 0.002), 0.2, (0.1, 0.8, 0.2, 0.5), flat=True),
        ],
    )


def red_mask(image):
    r, g, b = np.moveaxis(np.asarray(image, dtype=int)[..., :3], -1, 0)
    return (r > 2 * g + 30) & (r > 2 * b + 30)


def blue_mask(image):
    r, g, b = np.moveaxis(np.asarray(image, dtype=int)[..., :3], -1, 0)
    return (b > 2 * r + 20) & (b > 1.7 * g + 20)


# ---- in the browser ------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "this test opens pages in Chromium: install the system package 'chromium'"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        yield browser
        browser.close()


class Page:
    """A small page of the browser that records every request and lets none leave the machine."""

    def __init__(self, browser):
        self.page = browser.new_page(viewport={"width": 600, "height": 300})
        self.page.set_default_timeout(60_000)
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda channel: self.requests.append(channel.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def block_network(self):
        self.page.context.set_offline(True)
        self.page.route("**/*", lambda route: (route.continue_ if local(route.request.url) else route.abort)())

    def screenshot(self):
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB"))

    def screenshot_where(self, condition, said, seconds=200.0, between=lambda: None):
        end = time.monotonic() + seconds
        while True:
            between()
            image = self.screenshot()
            if condition(image):
                return image
            assert time.monotonic() < end, f"not seen within {seconds} s: {said}"

    def close(self):
        self.page.close()


def local(url):
    return url.split(":")[0] in ("file", "data", "blob")


@pytest.fixture
def page(browser):
    page = Page(browser)
    yield page
    page.close()


def shows_bodies(image):
    return red_mask(image).sum() > 150 and blue_mask(image).sum() > 60


def test_replay_plays_in_a_browser_without_a_network(page, tmp_path):
    file = tmp_path / "replay.html"
    write_replay(file, make_recording(), title="Box & <ell>")
    page.block_network()
    page.page.goto(file.as_uri())
    first = page.screenshot_where(shows_bodies, "the red box and the blue L-shape")
    assert first.std() > 10
    assert page.page.title() == "Box & <ell>"
    position = "() => parseFloat(document.querySelector('input').value)"
    page.page.wait_for_function(f"() => ({position})() > 0")
    earlier = page.page.evaluate(position)
    page.page.wait_for_function(f"() => ({position})() > {earlier} + 0.4 || ({position})() < {earlier}")
    column = np.nonzero(red_mask(first))[1].mean()
    moved = lambda image: shows_bodies(image) and abs(np.nonzero(red_mask(image))[1].mean() - column) > 15  # noqa: E731
    page.screenshot_where(moved, "the red box somewhere else")
    outside = [url for url in page.requests if not local(url)]
    assert outside == []
    assert page.errors == []


def test_viewer_serves_timeline_toggles_and_loss(page):
    from farfield.viewer.server import open_player

    with open_player(make_recording(), port=0, loss=[1.0, 0.1, 0.01], title="push") as (player, address):
        page.page.goto(address)
        page.screenshot_where(shows_bodies, "the bodies", between=lambda: player.advance(0.1))
        assert player.frame > 0
        text = page.page.inner_text("body")
        for label in ("time [s]", "play", "speed", "contact forces", "box path", "log10 loss"):
            assert label in text
        assert page.errors == []
        assert all(url.split("://", 1)[-1].startswith(address[7:]) or local(url) for url in page.requests)
        # A user's pause stops the playback.
        page.page.locator("input[type=checkbox]").first.evaluate("box => box.click()")
        end = time.monotonic() + 20
        frame = None
        while frame != player.frame and time.monotonic() < end:
            frame = player.frame
            time.sleep(0.5)
            player.advance(0.2)
        assert frame == player.frame


def test_replay_shows_the_loss_and_hides_what_it_should(page, tmp_path):
    file = tmp_path / "replay.html"
    write_replay(file, make_recording(), loss=[4.0, float("nan"), 0.2, 0.0], hidden=["contact forces", "box path"])
    page.page.goto(file.as_uri())
    said = page.page.inner_text("#loss").split()
    assert " ".join(said[:7]) == "loss over 4 iterations: 4 to 0"
    assert said[7:] == ["4", "0.2", "iteration", "4"]
    line = page.page.locator("#loss polyline").get_attribute("points").split()
    heights = [float(point.split(",")[1]) for point in line]
    assert heights[0] == 0.0 and heights[-1] == max(heights) > 80.0
    page.screenshot_where(shows_bodies, "the bodies")
    assert page.errors == []


def test_a_toggle_may_start_off(page):
    from farfield.viewer.server import open_player

    with open_player(make_recording(), port=0, hidden=["contact forces"]) as (_, address):
        page.page.goto(address)
        ticked = "label => document.getElementById(label.htmlFor).checked"
        assert page.page.locator("label", has_text="contact forces").first.evaluate(ticked) is False
        assert page.page.locator("label", has_text="box path").first.evaluate(ticked) is True


def test_viewer_offers_only_what_the_recording_has(page):
    from farfield.viewer.server import open_player

    with open_player(make_recording(arrows=False), port=0) as (_, address):
        page.page.goto(address)
        page.page.get_by_text("box path").wait_for()
        text = page.page.inner_text("body")
        assert "contact forces" not in text
        assert "loss" not in text


# ---- without a browser ------------------------------------------------------------


def test_no_server_thread_port_or_word_is_left_behind(tmp_path, capfd):
    from farfield.viewer.server import open_player

    before = set(threading.enumerate())
    write_replay(tmp_path / "a.html", make_recording(frames=3))
    with open_player(make_recording(frames=3), port=0) as (player, address):
        player.advance(0.05)
        port = int(address.rsplit(":", 1)[1])
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    time.sleep(0.1)
    assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err == ""


def test_arrows_follow_their_frame_and_their_toggle():
    from farfield.viewer.stage import Stage, quiet_server

    recording = make_recording(frames=4)
    with quiet_server() as server:
        stage = Stage(server, recording)
        node = server.scene.get_handle_by_name
        assert node("/arrows/contact forces") is None  # the first frame has none
        stage.show(1)
        arrows, trail = node("/arrows/contact forces"), node("/trails/box path")
        np.testing.assert_allclose(arrows.points, recording.arrows["contact forces"][1], atol=1e-6)
        assert (arrows.visible, trail.visible) == (True, True)
        stage.show(2)
        assert not arrows.visible
        stage.show(3)
        assert arrows.visible
        stage.set_visible("contact forces", False)
        stage.set_visible("box path", False)
        assert (arrows.visible, trail.visible) == (False, False)
        stage.show(1)
        assert not arrows.visible
        stage.set_visible("contact forces", True)
        assert arrows.visible
        np.testing.assert_allclose(node("/bodies/1 box").position, recording.poses[1, 1, :3], atol=1e-6)


def test_a_replay_that_cannot_be_written_keeps_the_old_one(tmp_path, monkeypatch):
    import viser.infra

    file = tmp_path / "replay.html"
    file.write_text("old")

    def crash(serializer, dark_mode=False):
        raise KeyboardInterrupt

    monkeypatch.setattr(viser.infra.StateSerializer, "as_html", crash)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        write_replay(file, make_recording(frames=3))
    assert file.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["replay.html"]
    assert threading.active_count() == before


def test_static_bodies_cost_nothing_per_frame(tmp_path):
    full = make_recording(frames=400)
    poses = {"short": full.poses[:2], "long": full.poses, "still": np.repeat(full.poses[:1], 400, axis=0)}
    sizes = {}
    for name in poses:
        recording = Recording(full.dt, poses[name], full.names, full.drawables)
        write_replay(tmp_path / f"{name}.html", recording)
        sizes[name] = (tmp_path / f"{name}.html").stat().st_size
    assert sizes["still"] < sizes["short"] + 500
    assert sizes["long"] > sizes["short"] + 5_000
    assert sizes["long"] < sizes["short"] + 100_000


@pytest.mark.parametrize(
    ("frames", "dt", "bodies"), [(1, 0.01, 1), (2, 1e-4, 1), (101, 1 / 240, 3), (100_000, 0.04, 2), (5_000, 0.01, 200)]
)
def test_long_recordings_are_thinned_evenly_and_keep_both_ends(frames, dt, bodies):
    poses = np.zeros((frames, bodies, 7))
    poses[..., 3] = 1.0
    poses[:, :, 0] = np.arange(frames)[:, None]
    chosen = playback_frames(Recording(dt, poses, [str(k) for k in range(bodies)]))
    assert chosen[0] == 0
    assert chosen[-1] == frames - 1
    assert len(chosen) <= min(frames, MAX_FRAMES)
    assert len(chosen) * bodies <= MAX_POSES
    gaps = np.diff(chosen)
    assert (gaps[:-1] * dt >= 1 / 60 - 1e-9).all()
    assert len(set(gaps[:-1])) <= 1


def test_still_picture_shows_every_moment_whole(tmp_path):
    recording = make_recording()
    file = tmp_path / "still.png"
    render_png(recording, file, frames=[0, 60, 119], size=(480, 300))
    image = np.asarray(Image.open(file))
    assert image.shape == (300, 480, 3)
    assert image.std() > 10
    red, blue = red_mask(image), blue_mask(image)
    assert red.sum() > 150
    assert blue.sum() > 60
    # Nothing is cropped: the border shows only ground or background, which are almost grey.
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]]).astype(int)
    assert (border.max(axis=1) - border.min(axis=1)).max() < 25
    assert [entry.name for entry in tmp_path.iterdir()] == ["still.png"]


def test_a_flat_marker_is_a_disc_on_the_ground():
    def green(flat):
        poses = np.tile([0.0, 0, 0, 1, 0, 0, 0], (1, 1, 1))
        marker = Marker("place", (0.0, 0.0, 0.01), 0.5, (0.0, 1.0, 0.0, 1.0), flat=flat)
        recording = Recording(dt=0.1, poses=poses, names=["world"], half_spaces=[HalfSpace(0)], markers=[marker])
        image = render(recording, size=(200, 200), elevation=np.radians(30)).astype(int)
        rows, columns = np.nonzero((image[..., 1] > 120) & (image[..., 0] < 60))
        return np.ptp(rows) + 1, np.ptp(columns) + 1

    height, width = green(True)
    assert 0.35 < height / width < 0.65  # sin 30 degrees, seen in perspective
    height, width = green(False)
    assert height / width > 0.65  # the upper half of a ball


def test_nearer_triangle_wins_in_either_order():
    recording = make_recording()
    camera = fit_camera(recording, aspect=1.0)
    right, up, forward = camera.axes()
    centre = camera.position + 5.0 * forward
    near = np.array([centre - right - up, centre + right - up, centre + up]) - forward
    far = near + 2.0 * forward
    for order in ((0, 1), (1, 0)):
        canvas = Canvas(camera, 64, 64)
        canvas.draw(np.stack([near, far])[list(order)], np.array([[1.0, 0, 0], [0, 0, 1.0]])[list(order)])
        np.testing.assert_allclose(canvas.depth[32, 32], 4.0, rtol=1e-5)
        np.testing.assert_array_equal(canvas.color[32, 32], [1, 0, 0])
        assert np.isinf(canvas.depth[0, 0])


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_camera_sees_everything_and_not_much_more(up, aspect):
    recording = make_recording()
    camera = fit_camera(recording, up=up, aspect=aspect)
    local_points = (scene_points(recording) - camera.position) @ camera.axes().T
    assert (local_points[:, 2] > 0).all()
    slope = np.tan(camera.fov / 2)
    used = (np.abs(local_points[:, :2]) / local_points[:, 2:] / slope / [aspect, 1.0]).max()
    assert 0.75 < used < 1.0
    np.testing.assert_allclose(camera.axes() @ camera.axes().T, np.eye(3), atol=1e-12)


def test_small_geometry():
    generator = np.random.default_rng(0)
    for normal in (*np.eye(3), *-np.eye(3), *generator.standard_normal((5, 3))):
        frame = plane_frame(normal)
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) > 0
        np.testing.assert_allclose(frame[:, 2], normal / np.linalg.norm(normal), atol=1e-12)
    assert [nice_length(x) for x in (1.0, 1.9, 2.0, 4.9, 7.0, 0.03)] == [1.0, 1.0, 2.0, 2.0, 5.0, 0.02]
    turn = rotation_matrices(np.array([np.cos(0.3), 0.0, 0.0, np.sin(0.3)]))
    np.testing.assert_allclose(turn @ [1, 0, 0], [np.cos(0.6), np.sin(0.6), 0], atol=1e-12)


def test_overlays_come_back_as_they_were_saved(tmp_path):
    recording = make_recording(frames=7)
    save_overlays(tmp_path / "a.npz", recording)
    again = load_overlays(tmp_path / "a.npz")
    assert again["markers"] == list(recording.markers)
    for one, other in zip(again["arrows"]["contact forces"], recording.arrows["contact forces"], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again["trails"]["box path"], recording.trails["box path"])
    whole = (tmp_path / "a.npz").read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"rubbish"):
        (tmp_path / "a.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.npz: not readable arrays"):
            load_overlays(tmp_path / "a.npz")


def test_a_recording_is_made_of_the_trajectory_file(tmp_path):
    """Everything that is drawn comes out of the file: shapes, colours, half-spaces, poses; the overlays may be missing."""
    scene = ff.Scene(name="fall")
    scene.add_shape(0, type="HalfSpace")
    scene.add_body(name="ball", position=[0.0, 0.0, 1.0])
    scene.add_joint("ball", name="ball", type="Free")
    scene.add_shape("ball", type="Sphere", size=[0.1, 0.0, 0.0], color=[0.9, 0.1, 0.1, 1.0])
    scene.add_shape("ball", type="Box", size=[0.2, 0.1, 0.1], collides=False)
    model = ff.build_model(scene)
    trajectory = ff.rollout(
        model, model.default_parameters(), model.default_state(), np.zeros((5, 0)), dt=0.02, contact=ff.LongRange()
    )
    ff.save_trajectory(tmp_path / "t", trajectory)
    live = record(model, trajectory.poses(), dt=0.02, trails={"path": trajectory.poses()[:, 1, :3]})
    for overlays, trails in ((False, set()), (True, {"path"})):
        if overlays:
            save_overlays(tmp_path / "o.npz", live)
        again = load_recording(tmp_path / "t", tmp_path / "o.npz")
        np.testing.assert_array_equal(again.poses, live.poses)
        assert (again.dt, again.names, again.half_spaces) == (live.dt, live.names, live.half_spaces)
        for one, other in zip(again.drawables, live.drawables, strict=True):
            np.testing.assert_array_equal(one.vertices, other.vertices)
            np.testing.assert_array_equal(one.triangles, other.triangles)
            assert (one.body, one.rgba) == (other.body, other.rgba)
        assert set(again.trails) == trails


def test_bad_recordings_are_refused_by_name():
    good = make_recording(frames=3)
    bad_pose = good.poses.copy()
    bad_pose[1, 2, 0] = np.nan
    box = (CORNERS, FACES)
    cases = [
        (dict(dt=0.0), "dt is 0.0"),
        (dict(poses=good.poses[0]), "expected (frames >= 1, bodies, 7)"),
        (dict(poses=bad_pose), "body 2 at frame 1 is not finite"),
        (dict(names=["world"]), "1 names for 4 bodies"),
        (dict(drawables=[Drawable(9, *box)]), "drawable 0 is on body 9 of 4"),
        (dict(drawables=[Drawable(0, CORNERS, FACES + 5)]), "outside its 8 vertices"),
        (dict(half_spaces=[HalfSpace(-1)]), "half-space 0 is on body -1"),
        (dict(arrows={"f": []}), "arrows 'f' have 0 frames"),
        (dict(trails={"t": np.zeros((3, 2))}), "trail 't' has shape (3, 2)"),
    ]
    fields = dict(dt=good.dt, poses=good.poses, names=good.names)
    for change, said in cases:
        with pytest.raises(ValueError) as caught:
            Recording(**{**fields, **change})
        assert said in str(caught.value)
    for frames, said in (([], "frames is empty"), ([3], "frame 3 does not exist")):
        with pytest.raises(ValueError, match=said):
            render(good, frames=frames)


def test_a_motion_that_blew_up_is_recorded_up_to_that_frame():
    poses = np.zeros((5, 2, 7))
    poses[..., 3] = 1.0
    poses[3, 1, 0] = np.inf
    recording = record(Model(), poses, dt=0.1, trails={"t": poses[:, 1, :3]})
    assert recording.num_frames == 3
    assert recording.drawables[0].rgba == (0.9, 0.1, 0.1, 1.0)
    poses[0] = np.nan
    with pytest.raises(ValueError, match="expected \\(frames >= 1"):
        record(Model(), poses, dt=0.1)


def test_default_grey_takes_the_palette_and_chosen_colours_stay():
    recording = make_recording(frames=2)
    assert recording.color(recording.drawables[0]) == RED
    grey = recording.color(recording.drawables[3])
    assert max(grey[:3]) - min(grey[:3]) > 0.1
    assert recording.color(Drawable(0, CORNERS, FACES)) == (0.7, 0.7, 0.7, 1.0)
